import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ParleyClient } from '@parley/client'
import type { CallHarness } from '../calls/call-harness.ts'
import type { Item, LateReceipt, ReceiptReading, Sent, Turn } from './update-checks.ts'

const SHORT_WAIT_MS = 100
const POLL_MS = 200
const SETTLE_SLACK_MS = 3000

/** A client that retries a lost connection up to 1000 times, after 100 ms at most. */
export function patientClient(baseUrl: string, key: string): ParleyClient {
  const wait = (ms: number, signal: AbortSignal | undefined) =>
    pause(Math.min(ms, SHORT_WAIT_MS), undefined, { signal })
  return new ParleyClient({ baseUrl, key, retries: 1000, wait })
}

/** A client of a run's event stream. */
export class Follower {
  readonly items: Item[] = []
  /** Whether the stream signalled its end. */
  hasEnded = false
  /** Settles when the stream ends. */
  readonly done: Promise<void>
  readonly #stop = new AbortController()

  constructor(client: ParleyClient, run_id: string) {
    this.done = this.#follow(client, run_id)
  }

  stop(): void {
    this.#stop.abort()
  }

  async #follow(client: ParleyClient, run_id: string): Promise<void> {
    try {
      for await (const item of client.runs.events({ params: { run_id } }, { signal: this.#stop.signal }))
        this.items.push(item)
      this.hasEnded = true
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error
    }
  }
}

/** The variable that updates change: the word that the agent speaks in each turn. */
function change(value: string) {
  return { override_dynamic_variables: { word: value } }
}

/** An update whose receipt is read by repeating the request with the same idempotency key. */
export class WatchedUpdate {
  readonly run_id: string
  readonly value: string
  readonly readings: ReceiptReading[] = []
  receipt: (LateReceipt & { readonly update_id: string }) | null = null
  readonly #key = randomUUID()

  constructor(run_id: string, value: string) {
    this.run_id = run_id
    this.value = value
  }

  async read(client: ParleyClient): Promise<void> {
    const requestedAt = Date.now()
    const body = change(this.value)
    const { update } = await client.runs.update({
      params: { run_id: this.run_id },
      body,
      idempotency_key: this.#key,
    })
    this.readings.push({ requestedAt, answeredAt: Date.now(), status: update.status })
    this.receipt = update
  }

  /** Reads the receipt until it is final, or until `beyondMs` after its deadline. */
  async settled(client: ParleyClient, beyondMs: number): Promise<void> {
    for (;;) {
      await this.read(client)
      const { completed_at, deadline } = this.receipt!
      if (completed_at !== null || Date.now() > Date.parse(deadline) + beyondMs) return
      await pause(POLL_MS)
    }
  }
}

/** Sends an update and waits until it is settled; `appliedAt`: time of the first receipt with that state. */
export async function sendUpdate(client: ParleyClient, run_id: string, value: string): Promise<Sent> {
  const sentAt = Date.now()
  const update = new WatchedUpdate(run_id, value)
  await update.settled(client, SETTLE_SLACK_MS)
  const applied = update.readings.find(({ status }) => status === 'applied')
  return { value, sentAt, appliedAt: applied?.answeredAt ?? null }
}

/** The agent's turns of a run that has ended. */
export async function turnsOf(client: ParleyClient, run_id: string): Promise<Turn[]> {
  const { utterances } = await client.runs.transcript({ params: { run_id } })
  const requestedAt: number[] = []
  const { items } = await client.runs.effects({ params: { run_id } })
  for (const { action, node_id, created_at } of items)
    if (action.id === 'model.infer' && node_id !== null) requestedAt.push(Date.parse(created_at))
  requestedAt.sort((a, b) => a - b)
  const turns = utterances.filter(({ role }) => role === 'agent')
  // There is one model request per turn. The last turn is left out if the end of the call interrupted it.
  return turns.flatMap(({ text, interrupted }, index) =>
    requestedAt[index] === undefined || interrupted ? [] : [{ text, requestedAt: requestedAt[index] }],
  )
}

export async function timelineOf(client: ParleyClient, run_id: string): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of client.runs.timeline.all({ params: { run_id } })) items.push(item)
  return items
}

/** Waits until `follower` has received `turns` more turns of the agent; false: not within `withinMs`. */
export async function waitForTurns(follower: Follower, turns: number, withinMs: number): Promise<boolean> {
  const count = () => follower.items.filter(item => item.kind === 'utterance').length
  const target = count() + turns
  const giveUpAt = Date.now() + withinMs
  while (count() < target) {
    if (Date.now() > giveUpAt) return false
    await pause(20)
  }
  return true
}

/** Calls `to`; resolves with the run id when the call is active. */
export async function startCall(harness: CallHarness, agent_id: string, to: string, withinMs: number): Promise<string> {
  const body = { agent_id, channel: 'phone', mode: 'outbound', to } as const
  const { run_id } = await harness.client.runs.create({ body: { ...body, dynamic_variables: { word: INITIAL } } })
  const giveUpAt = Date.now() + withinMs
  for (;;) {
    const { phone_state } = await harness.client.runs.get({ params: { run_id } })
    if (phone_state === 'active') return run_id
    if (Date.now() > giveUpAt) throw new Error(`run ${run_id} is ${phone_state} after ${withinMs} ms`)
    await pause(100)
  }
}

/** The word before any update. */
export const INITIAL = 'nothing'
