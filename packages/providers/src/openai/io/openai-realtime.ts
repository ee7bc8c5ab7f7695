import type { Time } from '@parley/kernel'
import { bearer } from '../../bearer.ts'
import { ProviderError } from '../../errors.ts'
import type { HostLookup } from '../../io/host-lookup.ts'
import { reachHost } from '../../io/reach-host.ts'
import type { ModelIdentity } from '../../language-model/language-model.ts'
import type { RealtimeModel, RealtimeOptions, RealtimeSession } from '../../realtime/realtime-model.ts'
import { primaryTag } from '../../text-to-speech/request.ts'
import { OpenAiRealtimeSession } from './openai-realtime-session.ts'

interface OpenAiRealtimeOptions {
  /** Such as "https://api.openai.com/v1"; "/realtime" is appended, and the scheme becomes wss. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly model: string
  /** Resolves the name of the base URL. Default: the system's resolver. */
  readonly lookup?: HostLookup
  /** Writes the caller's words; default "gpt-4o-mini-transcribe". */
  readonly transcriptionModel?: string
  readonly time: Time
}

/** Voices of the service, the recommended ones first. */
const VOICES = ['marin', 'cedar', 'alloy', 'ash', 'ballad', 'coral', 'echo', 'sage', 'shimmer', 'verse']
const LANGUAGES = 'en es de fr it pt nl ca pl ru uk sv da no fi cs el hu ro tr ar he hi ja ko zh id vi'.split(' ')
const TRANSCRIPTION_MODEL = 'gpt-4o-mini-transcribe'

/** Speech to speech over OpenAI's Realtime API, with G.711 mu-law in both directions: one WebSocket for each call. */
export class OpenAiRealtime implements RealtimeModel {
  readonly identity: ModelIdentity
  readonly languages: readonly string[] = LANGUAGES
  readonly voices: readonly string[] = VOICES
  readonly #options: OpenAiRealtimeOptions
  readonly #url: string
  readonly #sessions = new Set<RealtimeSession>()
  #reached: Promise<void> | undefined
  #closed = false

  /** Throws `ProviderError` "model_misconfigured" for a base URL or a key that cannot be used. */
  constructor(options: OpenAiRealtimeOptions) {
    const { baseUrl, apiKey, model } = options
    const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
      throw new ProviderError('model_misconfigured', 'The base URL is no http(s) URL, or has a user name in it.')
    if (!/^[\x21-\x7e]*$/.test(apiKey))
      throw new ProviderError('model_misconfigured', 'The key has characters that no header can carry.')
    this.identity = { provider: 'openai', model }
    this.#options = options
    const scheme = url.protocol === 'https:' ? 'wss' : 'ws'
    const path = url.pathname.replace(/\/+$/, '')
    this.#url = `${scheme}://${url.host}${path}/realtime?model=${encodeURIComponent(model)}`
  }

  async readiness(): Promise<string | null> {
    if (this.#closed) return 'closed'
    return this.#options.apiKey === '' ? `no key for openai/${this.identity.model}` : null
  }

  async warm(): Promise<void> {
    if ((await this.readiness()) !== null) return
    this.#reached ??= reachHost(this.#url, this.#options.lookup)
    await this.#reached
  }

  open({ language, keywords = [], voice = null, speed = 1 }: RealtimeOptions): RealtimeSession {
    if (this.#closed) throw new ProviderError('recogniser_closed', 'This model was closed.')
    const tag = primaryTag(language)
    if (!this.languages.includes(tag))
      throw new ProviderError('language_not_supported', `This model speaks ${this.languages.join(', ')}, not "${tag}".`)
    const { apiKey, lookup, time, transcriptionModel = TRANSCRIPTION_MODEL } = this.#options
    const session: RealtimeSession = new OpenAiRealtimeSession({
      url: this.#url,
      headers: bearer(apiKey),
      ...(lookup !== undefined && { lookup }),
      secret: apiKey,
      identity: this.identity,
      languages: this.languages,
      settings: {
        voice: voice !== null && this.voices.includes(voice) ? voice : this.voices[0]!,
        transcriptionModel,
        language: tag,
        keywords,
        speed,
      },
      time,
      onOver: () => this.#sessions.delete(session),
    })
    this.#sessions.add(session)
    return session
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const session of [...this.#sessions]) session.close()
  }
}
