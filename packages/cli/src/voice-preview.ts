import type { Platform } from '@parley/control-plane'
import { NARROWBAND, ParleyError } from '@parley/kernel'
import type { TextToSpeech } from '@parley/providers'
import { createMp3Encoder } from 'wasm-media-encoders'
import type { Services } from './services.ts'

type PreviewRequest = Parameters<Platform['previewVoice']>[1]
type PreviewOutcome = Awaited<ReturnType<Platform['previewVoice']>>

/** The line lasts 3 to 10 s; a voice that speaks for longer is broken. */
const MAX_SECONDS = 30
const TIMEOUT_MS = 20_000
/** Kilobits per second of one channel, for each sample rate. */
const BITRATES = { 8000: 32, 16000: 48, 24000: 64, 48000: 96 } as const

/** Speaks a line with a voice, in the best audio that it delivers, as MP3. `timeoutMs`: for the whole line. */
export async function previewVoice(
  services: Pick<Services, 'voice'>,
  { provider, model, voiceId, language, text, speed, expressiveness }: PreviewRequest,
  timeoutMs = TIMEOUT_MS,
): Promise<PreviewOutcome> {
  const late = AbortSignal.timeout(timeoutMs)
  try {
    const voice = services.voice(`${provider}/${model}`)
    const format = bestFormatOf(voice)
    const request = { text, language, voice: voiceId, speed, temperature: expressiveness, format }
    const encoder = await createMp3Encoder()
    const { sampleRateHz } = format
    encoder.configure({
      channels: 1,
      sampleRate: sampleRateHz,
      outputSampleRate: sampleRateHz,
      bitrate: BITRATES[sampleRateHz],
    })
    const pieces: Uint8Array[] = []
    let samples = 0
    for await (const chunk of voice.synthesize(request, late)) {
      samples += chunk.samples.length
      if (samples > MAX_SECONDS * sampleRateHz)
        return { state: 'failed', message: `the audio is longer than ${MAX_SECONDS} s` }
      // The encoder owns what it returns.
      pieces.push(encoder.encode([Float32Array.from(chunk.samples, sample => sample / 32_768)]).slice())
    }
    if (late.aborted) return { state: 'failed', message: `no answer within ${timeoutMs / 1000} s` }
    if (samples === 0) return { state: 'failed', message: 'the audio is empty' }
    pieces.push(encoder.finalize().slice())
    return { state: 'rendered', mp3: Buffer.concat(pieces) }
  } catch (error) {
    if (error instanceof ParleyError) return { state: 'failed', message: error.message }
    throw error
  }
}

function bestFormatOf({ formats = [NARROWBAND] }: TextToSpeech) {
  return formats
    .filter(({ channels }) => channels === 1)
    .reduce((best, one) => (one.sampleRateHz > best.sampleRateHz ? one : best), NARROWBAND)
}
