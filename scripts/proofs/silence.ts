import type { Draft } from '@parley/flow'
import { type Ms, msToSamples, NARROWBAND, type Random, randomBelow, SeededRandom, type Time } from '@parley/kernel'
import type { GenerationEvent, GenerationRequest, LanguageModel, TextToSpeech } from '@parley/providers'
import { AudioHarness } from '../../packages/engine/src/testing/audio-harness.ts'
import { FingerprintVoice } from '../../packages/engine/src/testing/scripted-speech.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

/** How the services of a call misbehave. */
const KINDS = ['stall', 'nothing', 'burst', 'slow'] as const
type Kind = (typeof KINDS)[number]

const CONTRACT_MS: Ms = 2000
const STALL_MS: Ms = 37_000
const STALL_SHARE = 0.05
const MAX_EXTRA_TOKENS = 0.1
const TURNS_PER_CALL = 10
/** Time in which a turn is decided complete after the caller's last word. */
const DECIDED_MS: Ms = 700
const AUDIBLE = 300
/** What the agent says when the model has no words twice in a turn. */
const APOLOGY = "I'm sorry, I have a technical problem. Could you say that once more?"
const HOLDING_LINES = ['One moment, please.', 'I am still working on it.']

interface Turn {
  readonly silenceMs: Ms
  readonly held: boolean
  /** The agent apologised and asked the caller to say it again: from then on it owes nothing. */
  readonly isAskedBack: boolean
}

interface Tally {
  turns: Turn[]
  /** Characters of all requests to the model and of all its answers, and those of the first request of each turn. */
  characters: number
  needed: number
}

/**
 * Calls in virtual time with services that, in 5 % of their requests, stall for 37 s, answer nothing, or answer 1 to 4 s late and all at once, or in every request
 * begin to answer after 0.1 to 1.5 s, whatever they are asked: the silence that the
 * caller hears in each turn, the share of turns with a holding line, and what the further requests cost. `count`: turns of each kind.
 * `contractMs`: the setting of the agent; the silence is always judged by 2 s.
 */
export async function proveSilence(
  { count, seed, line, progress }: ProofOptions,
  contractMs: Ms = CONTRACT_MS,
): Promise<ProofOutcome> {
  const random = new SeededRandom(seed)
  let ok = true
  for (const kind of KINDS) {
    const tally: Tally = { turns: [], characters: 0, needed: 0 }
    const model = new FaultyModel(kind, random, tally)
    while (tally.turns.length < count) {
      await call(kind, {
        random,
        contractMs,
        tally,
        model,
        turns: Math.min(TURNS_PER_CALL, count - tally.turns.length),
      })
      if (tally.turns.length % 200 === 0) progress(`${kind}: ${tally.turns.length} turns`)
    }
    const silences = tally.turns.map(({ silenceMs }) => silenceMs).toSorted((a, b) => a - b)
    const quantile = (share: number) => Math.round(silences[Math.ceil(share * silences.length) - 1]!)
    const extraTokens = tally.characters / tally.needed - 1
    const isOk = quantile(0.999) <= CONTRACT_MS && extraTokens <= MAX_EXTRA_TOKENS
    ok &&= isOk
    line({
      proof: 'silence',
      kind,
      ok: isOk,
      turns: silences.length,
      silence_p50_ms: quantile(0.5),
      silence_p99_ms: quantile(0.99),
      silence_p999_ms: quantile(0.999),
      silence_max_ms: quantile(1),
      asked_back_share: tally.turns.filter(({ isAskedBack }) => isAskedBack).length / silences.length,
      held_share: tally.turns.filter(({ held }) => held).length / silences.length,
      extra_tokens: Number(extraTokens.toFixed(4)),
    })
  }
  return { ok, summary: { contract_ms: CONTRACT_MS, kinds: KINDS.length } }
}

function isFaulty(random: Random): boolean {
  return randomBelow(random, 1000) < 1000 * STALL_SHARE
}

/** A model that misbehaves. Like a service, it writes nothing more when a request is aborted. */
class FaultyModel implements LanguageModel {
  readonly identity: LanguageModel['identity']
  turn = 0
  readonly #kind: Kind
  readonly #random: Random
  readonly #tally: Tally
  /** The turn whose first request was counted. */
  #counted = 0
  #wait: (ms: Ms) => Promise<void> = async () => {}

  constructor(kind: Kind, random: Random, tally: Tally) {
    this.identity = { provider: 'test', model: kind }
    this.#kind = kind
    this.#random = random
    this.#tally = tally
  }

  /** A call begins, in whose time the model waits. */
  begin(wait: (ms: Ms) => Promise<void>): void {
    this.#wait = wait
    this.turn = 0
    this.#counted = 0
  }

  async readiness(): Promise<null> {
    return null
  }

  async *generate(request: GenerationRequest, signal: AbortSignal): AsyncGenerator<GenerationEvent> {
    const tally = this.#tally
    const reply = answerOf(this.turn)
    const characters = JSON.stringify(request.messages).length
    const isFirst = this.#counted !== this.turn
    this.#counted = this.turn
    tally.characters += characters
    if (isFirst) tally.needed += characters + reply.length
    const faulty = isFaulty(this.#random)
    await this.#wait(this.#firstEventMs(faulty))
    if (signal.aborted) return
    if (this.#kind !== 'nothing' || !faulty) {
      tally.characters += reply.length
      yield { type: 'text', delta: reply }
    }
    yield { type: 'finished', reason: 'stop' }
  }

  async close(): Promise<void> {}

  #firstEventMs(faulty: boolean): Ms {
    const random = this.#random
    if (this.#kind === 'stall' && faulty) return STALL_MS
    if (this.#kind === 'burst' && faulty) return 1000 + randomBelow(random, 3000)
    if (this.#kind === 'slow') return 100 + randomBelow(random, 1400)
    return 200 + randomBelow(random, 300)
  }
}

interface CallOptions {
  readonly random: Random
  readonly contractMs: Ms
  readonly tally: Tally
  /** All calls have the same model, whose pace they learn together. */
  readonly model: FaultyModel
  readonly turns: number
}

async function call(kind: Kind, { random, contractMs, tally, model, turns }: CallOptions): Promise<void> {
  let harness: AudioHarness | null = null
  let turn = 0
  const wait = async (ms: Ms) => {
    const time: Time = harness!.line.time
    await new Promise<void>(resolve => time.at(time.now() + ms, resolve))
  }
  model.begin(wait)
  const voice = new FingerprintVoice()
  const stallingVoice: TextToSpeech = {
    id: 'test/stalling',
    languages: ['en'],
    readiness: async () => null,
    async *synthesize(request, signal) {
      await wait(turn > 0 && kind === 'stall' && isFaulty(random) ? STALL_MS : 150)
      yield* voice.synthesize(request, signal)
    },
    close: async () => {},
  }
  const agent = { model: () => model, voice: stallingVoice, asksAhead: false }
  harness = await AudioHarness.open({ draft: draftWith(contractMs), agent })
  const on = harness
  await on.until(() => on.timeline('utterance').length >= 1, 12_000, 'greeted')
  await on.pass(1500)
  for (turn = 1; turn <= turns; turn++) {
    model.turn = turn
    const before = on.timeline('utterance').length
    await on.pass(on.says(`question number ${turn} please`))
    const from = on.heardNow() + msToSamples(DECIDED_MS, NARROWBAND)
    const answers = () =>
      on
        .timeline('utterance')
        .slice(before)
        .map(({ text }) => text)
    const asksBack = () => answers().includes(APOLOGY)
    await on.until(() => asksBack() || answers().includes(answerOf(turn)), 60_000, `${kind}: turn ${turn}`)
    const held = answers().some(text => HOLDING_LINES.includes(text))
    tally.turns.push({ silenceMs: longestSilence(on.heard(), from), held, isAskedBack: asksBack() })
    await on.pass(1000)
  }
  on.caller.hangUp()
  await on.pass(300)
}

function answerOf(turn: number): string {
  return `This is the answer number ${turn}.`
}

/** The longest silence before a sound of the agent, ms. */
function longestSilence(heard: Int16Array, from: number): Ms {
  let longest = 0
  let since = from
  for (let at = from; at < heard.length; at++) {
    if (Math.abs(heard[at]!) <= AUDIBLE) continue
    longest = Math.max(longest, at - since)
    since = at
  }
  return (longest * 1000) / NARROWBAND.sampleRateHz
}

function draftWith(silenceContractMs: Ms): Draft {
  return {
    name: 'Silence',
    settings: { channels: ['phone'], silenceContractMs, holdingLines: HOLDING_LINES },
    providers: {
      stt: { provider: 'simulated', model: 'tones-1' },
      llm: {
        provider: 'simulated_hosted',
        model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
      },
      tts: { provider: 'simulated', model: 'tones-1' },
    },
    actions: [],
    flow: {
      start_node_id: 'hello',
      nodes: [
        {
          id: 'hello',
          type: 'conversation',
          instruction: { type: 'static_text', text: 'How can I help you?' },
          edges: [{ id: 'e', transition_condition: { type: 'prompt', prompt: 'leaves' }, destination_node_id: 'end' }],
        },
        { id: 'end', type: 'end' },
      ],
    },
  }
}

export const proof: Proof = { name: 'silence', seconds: 3600, count: 2000, run: options => proveSilence(options) }
