import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebhookReceiver } from '@parley/loadtest'
import { type AnsweredCall, AnsweringPhone, CallerScript, PhoneVoice } from '@parley/phone'
import { TonesRecogniser, TonesVoice } from '@parley/providers'
import { ensureLocalCertificate } from '@parley/sip'
import { draftOf } from '../../../interop/conversation-flows.ts'
import { CallHarness } from '../calls/call-harness.ts'
import { ACCOUNT, type TrunkPlace } from '../calls/carrier-lines.ts'
import { pollUntil } from '../calls/poll-until.ts'
import { type AnswerRow, TALKS } from './answer-rows.ts'

const HOST = 'phones.test'
const SECRET = 'whsec-of-the-answers-proof-0123456789'
const TRUNK: TrunkPlace = { trunk_id: 'phones', host: HOST, transport: 'tls', phone_number: '+12025550153' }
const RUN_TIMEOUT_MS = 120_000
/** Recordings are joined and webhooks sent after the end of the run. */
const AFTER_TIMEOUT_MS = 60_000

/** What is known of a call after its end. */
export type RowEvidence = Awaited<ReturnType<AnsweringPlatform['call']>>

/** A platform whose trunk leads over TLS and SRTP to a phone that plays one far end for each number. */
export class AnsweringPlatform {
  readonly harness: CallHarness
  readonly #receiver: WebhookReceiver
  readonly #calls: ReadonlyMap<string, AnsweredCall>
  readonly #close: () => Promise<void>

  private constructor(
    parts: { readonly harness: CallHarness; readonly receiver: WebhookReceiver },
    calls: ReadonlyMap<string, AnsweredCall>,
    close: () => Promise<void>,
  ) {
    this.harness = parts.harness
    this.#receiver = parts.receiver
    this.#calls = calls
    this.#close = close
  }

  static async open(rows: readonly AnswerRow[]): Promise<AnsweringPlatform> {
    const directory = mkdtempSync(join(tmpdir(), 'parley-answers.'))
    const { caPath, ...tls } = await ensureLocalCertificate(directory, { names: [HOST] })
    const voice = new TonesVoice()
    const speaker = new PhoneVoice(voice, 'en')
    const scripts = new Map<string, CallerScript>()
    for (const [index, row] of rows.entries())
      scripts.set(numberOf(index), await CallerScript.prepare(row.steps, speaker))
    const calls = new Map<string, AnsweredCall>()
    const phone = await AnsweringPhone.open({
      endpoint: {
        tls,
        rtp: { bind: '127.0.0.1', ports: { from: 34_000, to: 34_999 }, threads: 1 },
        userAgentName: 'phone',
      },
      realm: HOST,
      credentials: ACCOUNT,
      scriptFor: number => {
        const script = scripts.get(number)
        return script === undefined ? null : Promise.resolve(script)
      },
      recogniser: new TonesRecogniser(),
      language: 'en',
      onCall: call => calls.set(call.number, call),
    })
    const receiver = await WebhookReceiver.open({ secrets: [SECRET] })
    const release = async () => {
      await receiver.close()
      await phone.close()
      await voice.close()
      rmSync(directory, { recursive: true, force: true })
    }
    try {
      const harness = await CallHarness.open({
        processes: ['api,worker,engine'],
        numbers: [],
        lines: [],
        env: {
          PARLEY_RESOLVE: `${HOST}=127.0.0.1:${phone.port};tls;${caPath}`,
          PARLEY_EGRESS_ALLOW: new URL(receiver.url).host,
        },
      })
      const close = async () => {
        await harness.close()
        await release()
      }
      return new AnsweringPlatform({ harness, receiver }, calls, close)
    } catch (error) {
      await release()
      throw error
    }
  }

  /** Publishes an agent for each row. */
  async prepare(rows: readonly AnswerRow[]): Promise<void> {
    const { client } = this.harness
    await this.harness.addTrunk(TRUNK)
    const { version } = await client.secrets.put({
      params: { secret_id: 'hook' },
      body: { kind: 'webhook_signing', value: SECRET },
    })
    const notification = { url: `${this.#receiver.url}/hook`, secret: { id: 'hook', version } }
    for (const [index, { settings, flow = TALKS }] of rows.entries()) {
      const draft = draftOf([...(flow.nodes ?? [])], flow, {
        settings: { channels: ['phone'], openerWaitsForCallee: true, ...settings },
        recording: { required: true, channels: 'dual', signed_urls: true },
        notification,
      })
      await this.harness.publish(agentOf(index), draft, TRUNK)
    }
  }

  /** Makes the call of the row with this index, and reads everything that is known of it afterwards. */
  async call(index: number) {
    const { client } = this.harness
    const to = numberOf(index)
    const created = await client.runs.create({
      body: { agent_id: agentOf(index), channel: 'phone', mode: 'outbound', to },
    })
    const params = { run_id: created.run_id }
    const run = await pollUntil(RUN_TIMEOUT_MS, async () => {
      const found = await client.runs.get({ params })
      return found.ended_at === null ? null : found
    })
    if (run === null) throw new Error(`the call to ${to} did not end`)
    const answered = this.#calls.get(to)
    await answered?.ended
    const recording = await pollUntil(AFTER_TIMEOUT_MS, async () => {
      const found = await client.runs.recording({ params })
      return found.media_url === null ? null : found.media_url
    })
    const event = await pollUntil(AFTER_TIMEOUT_MS, async () => this.#webhookOf(run.run_id))
    return {
      run,
      timeline: (await client.runs.timeline({ params, query: { limit: 200 } })).items,
      effects: (await client.runs.effects({ params })).items,
      utterances: (await client.runs.transcript({ params })).utterances,
      wav: recording === null ? null : new Uint8Array(await (await fetch(recording)).arrayBuffer()),
      webhook: event,
      heard: answered?.heardLines.map(({ text }) => text).join(' ') ?? '',
      digits: answered?.digits ?? '',
    }
  }

  /** Ids of the runs that the list shows for this contact. */
  async listed(contact: string): Promise<readonly string[]> {
    const { items } = await this.harness.client.runs.list({ query: { contact } })
    return items.map(({ run_id }) => run_id)
  }

  close(): Promise<void> {
    return this.#close()
  }

  #webhookOf(runId: string): { readonly contact: string | null; readonly answered_by: string | null } | null {
    const entry = this.#receiver.entries.find(({ run_id, event }) => run_id === runId && event === 'run.ended')
    if (entry === undefined) return null
    const { run } = JSON.parse(entry.body) as { run: { contact: string | null; answered_by: string | null } }
    return run
  }
}

function numberOf(index: number): string {
  return `+1202555${String(6000 + index)}`
}

function agentOf(index: number): string {
  return `caller-${index}`
}
