import {
  FakeAnthropic,
  FakeAssemblyAi,
  FakeAura,
  FakeCartesia,
  FakeDeepgramFlux,
  FakeDeepgramListen,
  type FakeDelays,
  FakeElevenLabs,
  FakeOpenAiChat,
  FakeSpeechService,
  type ModelUnkindness,
  type OpenHearing,
  PathRouter,
  type Speak,
  type Unkindness,
} from '@parley/fakes'
import {
  type LanguageModel,
  RulesModel,
  type TextToSpeech,
  TonesRecogniser,
  TonesVoice,
  wordByWord,
} from '@parley/providers'
import { mindOf } from './stand-in-mind.ts'

/** The only key that the stand-ins take. */
const KEY = 'stand-in'

export interface StandInsOptions {
  /** Of hearing; default none. */
  readonly hearing?: FakeDelays
  /** Of voices; default none. */
  readonly speaking?: FakeDelays
  /** Of models; default none. */
  readonly thinking?: FakeDelays
  /** How much faster than real time voices give their audio; default all at once. */
  readonly pace?: number
  /** What voices speak with, not closed with them; default one of their own. Many at once had better share it. */
  readonly voice?: TextToSpeech
  /** What models think with, not closed with them; default rules-1. */
  readonly model?: LanguageModel
}

/** One stand-in, for whoever wants it to fail. */
export interface StandIn {
  /** What its next connections or requests meet, one each; those after them are served. "slow" is for models alone. */
  beUnkind(...unkindness: readonly ModelUnkindness[]): void
  /** Breaks all its connections off, without a close frame. */
  breakOff(): void
}

/** Names of stand-ins: models of theirs, as agents name them. */
export type StandInName =
  | 'deepgram/nova-3'
  | 'deepgram/flux-general-en'
  | 'assemblyai/universal-streaming-english'
  | 'elevenlabs/eleven_flash_v2_5'
  | 'cartesia/sonic-2'
  | 'deepgram/aura-2'
  | 'openai/gpt-4o-mini-tts'
  | 'openai/gpt-4.1-mini'
  | 'anthropic/claude-haiku-4-5'

/** Local stand-ins of all services: they speak the vendors' protocols, hear and talk as the simulated pair does, and think as rules-1 does. */
export class StandIns {
  /** Environment variables with which agents use them. */
  readonly environment: Readonly<Record<string, string>>
  readonly all: Readonly<Record<StandInName, StandIn>>
  readonly #close: () => Promise<void>

  private constructor(
    environment: Readonly<Record<string, string>>,
    all: Readonly<Record<StandInName, StandIn>>,
    close: () => Promise<void>,
  ) {
    this.environment = environment
    this.all = all
    this.#close = close
  }

  static async open(options: StandInsOptions = {}): Promise<StandIns> {
    const recogniser = new TonesRecogniser()
    const own = options.voice === undefined ? new TonesVoice() : null
    const voice = options.voice ?? own!
    const hearing: OpenHearing = language => wordByWord(recogniser, language)
    const speak: Speak = request => rendered(voice, request)
    const speechInput = { apiKey: KEY, hearing, ...(options.hearing && { delays: options.hearing }) }
    const { speaking, thinking, pace, model = new RulesModel() } = options
    const minds = { key: KEY, think: mindOf(model), ...(thinking && { delays: thinking }) }
    const mouths = { apiKey: KEY, speak, ...(speaking && { delays: speaking }), ...(pace && { pace }) }
    const [listen, flux, aura, assemblyai, elevenlabs, cartesia, speech, chat, anthropic] = await Promise.all([
      FakeDeepgramListen.open(speechInput),
      FakeDeepgramFlux.open(speechInput),
      FakeAura.open(mouths),
      FakeAssemblyAi.open(speechInput),
      FakeElevenLabs.open(mouths),
      FakeCartesia.open(mouths),
      FakeSpeechService.open(mouths),
      FakeOpenAiChat.open(minds),
      // Tools are streamed as they come, each in a block of its own.
      FakeAnthropic.open({ ...minds, style: { interleaved: true } }),
    ])
    const deepgram = await PathRouter.open({ '/v1/listen': listen.url, '/v2/listen': flux.url, '/v1/speak': aura.url })
    const openai = await PathRouter.open({ '/v1/audio': speech.url, '/v1/chat': chat.origin })
    const environment = {
      DEEPGRAM_API_KEY: KEY,
      DEEPGRAM_BASE_URL: `ws://127.0.0.1:${deepgram.port}`,
      ASSEMBLYAI_API_KEY: KEY,
      ASSEMBLYAI_BASE_URL: assemblyai.url,
      ELEVENLABS_API_KEY: KEY,
      ELEVENLABS_BASE_URL: elevenlabs.url,
      CARTESIA_API_KEY: KEY,
      CARTESIA_BASE_URL: cartesia.url,
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: `http://127.0.0.1:${openai.port}/v1`,
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: anthropic.origin,
    }
    const standIns = {
      'deepgram/nova-3': speechStandIn(listen),
      'deepgram/flux-general-en': speechStandIn(flux),
      'assemblyai/universal-streaming-english': speechStandIn(assemblyai),
      'elevenlabs/eleven_flash_v2_5': speechStandIn(elevenlabs),
      'cartesia/sonic-2': speechStandIn(cartesia),
      'deepgram/aura-2': speechStandIn(aura),
      'openai/gpt-4o-mini-tts': speechStandIn(speech),
      'openai/gpt-4.1-mini': chat,
      'anthropic/claude-haiku-4-5': anthropic,
    }
    const routers = [deepgram, openai]
    const opened = [listen, flux, aura, assemblyai, elevenlabs, cartesia, speech, chat, anthropic, recogniser]
    return new StandIns(environment, standIns, async () => {
      await Promise.all([...[...routers, ...opened].map(one => one.close()), own?.close()])
    })
  }

  close(): Promise<void> {
    return this.#close()
  }
}

function speechStandIn(fake: Pick<FakeSpeechService, 'beUnkind' | 'breakOff'>): StandIn {
  return { beUnkind: (...unkindness) => fake.beUnkind(...unkindness.map(ofSpeech)), breakOff: () => fake.breakOff() }
}

function ofSpeech(unkindness: ModelUnkindness): Unkindness {
  if (unkindness.type === 'slow') throw new Error('only models are slow')
  return unkindness
}

async function rendered(voice: TextToSpeech, request: Parameters<Speak>[0]): ReturnType<Speak> {
  const chunks: Int16Array[] = []
  const words: { text: string; startMs: number }[] = []
  for await (const chunk of voice.synthesize(request, new AbortController().signal)) {
    chunks.push(chunk.samples)
    words.push(...chunk.words)
  }
  const samples = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    samples.set(chunk, at)
    at += chunk.length
  }
  return { samples, words }
}
