import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FakeSpeechService } from '@parley/fakes'
import { VirtualTime } from '@parley/kernel'
import { runningTime } from '@parley/kernel/testing'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { textToSpeechConformance } from '../../text-to-speech/testing/conformance.ts'
import { TonesSpeech } from '../../text-to-speech/testing/tones-speech.ts'
import { Utterance } from '../../text-to-speech/testing/voice-harness.ts'
import { voiceServiceConformance } from '../../text-to-speech/testing/voice-service-conformance.ts'
import { OpenAiVoice } from './openai-voice.ts'

const speech = new TonesSpeech()
const languages = await speech.languages()
const shared = await FakeSpeechService.open({ apiKey: 'key', speak: speech.speak })
/** The built-in voice behind the fake needs seconds for its first audio. */
const budgets = { firstAudioMs: 20_000 }
afterAll(() => Promise.all([shared.close(), speech.close()]))

await textToSpeechConformance(
  () => new OpenAiVoice({ apiKey: 'key', time: runningTime, baseUrl: shared.url, languages, budgets }),
  { maxShareAtDoubleSpeed: 0.9 },
)

voiceServiceConformance(
  {
    name: 'the voice of services like OpenAI',
    open: options => FakeSpeechService.open(options),
    make: ({ url, maxSockets, ...options }) =>
      new OpenAiVoice({ baseUrl: url, ...(maxSockets !== undefined && { maxConnections: maxSockets }), ...options }),
    over: 'http',
    utterancesPerConnection: 1,
    hasWordTimes: false,
    unknownVoice: { voice: 'unknown', code: 'voice_unknown' },
  },
  speech,
)

it('the OpenAI voice reports a refusal at once, however long its body is', async () => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(401, { 'content-type': 'application/json' }).write('{"error":')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const time = new VirtualTime()
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const voice = new OpenAiVoice({ apiKey: 'key', time, baseUrl })
  onTestFinished(async () => {
    await voice.close()
    server.closeAllConnections()
    server.close()
  })
  const utterance = new Utterance(voice, { text: 'One.', language: 'en' })
  await expect.poll(() => time.nextDeadline()).toBe(500)
  time.advance(500)
  expect(await utterance.ended).toMatchObject({ code: 'voice_refused', retryable: false })
})
