import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InMemoryEffectLedger } from '@parley/conversation'
import type { VoiceAgent } from '@parley/engine'
import { type CallReport, Engine, testPlan, testRouter } from '@parley/engine/testing'
import { compile, type Draft } from '@parley/flow'
import { systemRandom, systemTime } from '@parley/kernel'
import { type AnsweredCall, AnsweringPhone, CallerScript, PhoneVoice } from '@parley/phone'
import { RulesModel, speechBandOf, TonesRecogniser, TonesVoice } from '@parley/providers'
import { parseUri, type SipUri } from '@parley/sip'
import { readSettings } from '../../packages/cli/src/environment.ts'
import { processIdentity } from '../../packages/cli/src/identity.ts'
import { ANSWER_ROWS, type AnswerRow, OPENING } from './answers/answer-rows.ts'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { soundOf } from './services/call-recording.ts'

const HOST = 'phone.localhost'
const CREDENTIALS = { username: 'parley', password: 'an-open-secret' }
const LONGEST_MESSAGE_DELAY_MS = 300

/**
 * Calls a phone over TLS and SRTP that plays each kind of far end, and checks what was detected, how the call ended, what the far end
 * heard, and in the recording where the message begins.
 */
export async function proveAnswers(
  { line, progress }: ProofOptions,
  rows: readonly AnswerRow[] = ANSWER_ROWS,
): Promise<ProofOutcome> {
  const lines = await AnsweringLines.open(rows)
  try {
    const faults = await Promise.all(
      rows.map(async (row, i) => {
        const found = await lines.call(row, String(i))
        line({ proof: 'answers', row: row.name, faults: found })
        progress(row.name)
        return found
      }),
    )
    const failed = faults.filter(found => found.length > 0).length
    return { ok: failed === 0, summary: { rows: rows.length, failed } }
  } finally {
    await lines.close()
  }
}

class AnsweringLines {
  readonly #home: string
  readonly #engine: Engine
  readonly #phone: AnsweringPhone
  readonly #calls: ReadonlyMap<string, AnsweredCall>
  readonly #voice: TonesVoice

  private constructor(
    home: string,
    engine: Engine,
    phone: AnsweringPhone,
    calls: Map<string, AnsweredCall>,
    voice: TonesVoice,
  ) {
    this.#home = home
    this.#engine = engine
    this.#phone = phone
    this.#calls = calls
    this.#voice = voice
  }

  static async open(rows: readonly AnswerRow[]): Promise<AnsweringLines> {
    const home = await mkdtemp(join(tmpdir(), 'parley-answers.'))
    const { tls } = await processIdentity(readSettings({ PARLEY_HOME: home }))
    const endpoint = { tls, rtp: { bind: '127.0.0.1', ports: { from: 34_000, to: 34_999 }, threads: 1 } }
    const voice = new TonesVoice()
    const speaker = new PhoneVoice(voice, 'en')
    const scripts = await Promise.all(rows.map(row => CallerScript.prepare(row.steps, speaker)))
    const calls = new Map<string, AnsweredCall>()
    const phone = await AnsweringPhone.open({
      endpoint: { ...endpoint, userAgentName: 'phone' },
      realm: HOST,
      credentials: CREDENTIALS,
      scriptFor: number => (scripts[Number(number)] === undefined ? null : Promise.resolve(scripts[Number(number)]!)),
      recogniser: new TonesRecogniser(),
      language: 'en',
      onCall: call => calls.set(call.number, call),
    })
    const engine = await Engine.start({
      endpoint: { ...endpoint, userAgentName: 'Parley' },
      router: testRouter([]),
    })
    return new AnsweringLines(home, engine, phone, calls, voice)
  }

  /** Makes the row's call; returns what is wrong with it. */
  async call(row: AnswerRow, number: string): Promise<string[]> {
    const agent = agentOf(row.settings, this.#voice)
    const call = await this.#engine.dial({
      uri: uriOf(`sip:${number}@127.0.0.1:${this.#phone.port};transport=tls`),
      from: { displayName: undefined, uri: uriOf('sip:+12025550142@127.0.0.1'), params: new Map() },
      credentials: CREDENTIALS,
      security: 'srtp-required',
      plan: testPlan({ agent }, { recordingPath: join(this.#home, `${number}.wav`) }),
    })
    const report = await call.report
    const answered = this.#calls.get(number)
    await answered?.ended
    const heard = answered?.heardLines.map(({ text }) => text).join(' ') ?? ''
    return [...faultsOf(row, report, heard), ...(row.expected.leavesMessage ? await messageFaults(report) : [])]
  }

  async close(): Promise<void> {
    await this.#engine.close()
    await this.#phone.close()
    await this.#voice.close()
    await rm(this.#home, { recursive: true, force: true })
  }
}

function faultsOf({ expected }: AnswerRow, { run, timeline }: CallReport, heard: string): string[] {
  const contacts = timeline.flatMap(item => (item.kind === 'contact' ? [item] : []))
  const found = {
    classes: contacts.map(item => item.class).join(),
    contact: contacts.at(-1)?.contact ?? 'none',
    kind: run.outcome?.kind ?? 'none',
    detail: run.outcome?.detail ?? null,
  }
  const wanted = {
    classes: expected.classes.join(),
    contact: expected.contact,
    kind: expected.kind,
    detail: expected.detail,
  }
  const faults = (Object.keys(wanted) as (keyof typeof wanted)[])
    .filter(name => found[name] !== wanted[name])
    .map(name => `${name} is ${found[name]}, not ${wanted[name]}`)
  if (expected.hears !== undefined && !expected.hears.test(heard)) faults.push(`the far end heard only "${heard}"`)
  if (expected.neverHears?.test(heard)) faults.push(`the far end heard "${heard}"`)
  return faults
}

/** Where the agent speaks while or before the far end does, or later than allowed after the beep. */
async function messageFaults(report: CallReport): Promise<string[]> {
  const sound = await soundOf(report)
  const message = report.utterances.findLast(({ role }) => role === 'agent')
  if (sound === null || message?.start_ms == null) return ['there is no recording or no message']
  const end = sound.lastCallerSoundMs(message.start_ms)
  const delay = message.start_ms - end
  if (message.interrupted) return ['the message was interrupted']
  return delay >= 0 && delay <= LONGEST_MESSAGE_DELAY_MS
    ? []
    : [`the message began ${Math.round(delay)} ms after the beep`]
}

function agentOf(settings: Draft['settings'], voice: TonesVoice): VoiceAgent {
  const compiled = compile({
    name: 'Parley',
    settings: { channels: ['phone'], openerWaitsForCallee: true, ...settings },
    providers: {
      stt: { provider: 'simulated', model: 'tones-1' },
      llm: {
        provider: 'simulated_hosted',
        model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
      },
      tts: { provider: 'simulated', model: 'tones-1' },
    },
    flow: {
      start_node_id: 'hello',
      nodes: [
        { id: 'hello', type: 'conversation', instruction: { type: 'static_text', text: OPENING } },
        { id: 'end', type: 'end', global_node_setting: { condition: 'wants to end' } },
      ],
    },
  })
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ path, message }) => `${path}: ${message}`).join('; '))
  const recogniser = new TonesRecogniser()
  const model = new RulesModel({ time: systemTime })
  return {
    plan: compiled.plan,
    agentId: null,
    agentVersion: null,
    recogniser,
    speechBand: speechBandOf(recogniser.id),
    voice,
    voiceId: null,
    model: () => model,
    ledger: () => new InMemoryEffectLedger({ random: systemRandom, wallClock: Date.now }),
    actions: () => ({ run: () => Promise.reject(new Error('the agent has no actions')) }),
    transferPolicy: () => ({ decision: 'deny', reason: null, policy_version: '1' }),
  }
}

function uriOf(text: string): SipUri {
  const uri = parseUri(text)
  if (uri === undefined || !('host' in uri)) throw new Error(`${text} is no SIP URI`)
  return uri
}

export const proof: Proof = {
  name: 'answers',
  seconds: 300,
  count: ANSWER_ROWS.length,
  run: options => proveAnswers(options, ANSWER_ROWS.slice(0, options.count)),
}
