import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ParleyClient } from '@parley/client'
import type { CallHarness } from '../calls/call-harness.ts'
import type { Item, LateReceipt, Look, Sent, Turn } from './update-checks.ts'

const SHORT_WAIT_MS = 100
const LOOK_EVERY_MS = 200
const BEYOND_DEADLINE_MS = 3000

/** A client that gives up on no connection, and soon tries again. */
export function patientClient(baseUrl: string, key: string): ParleyClient {
  const wait = (ms: number, signal: AbortSignal | undefined) =>
    pause(Math.min(ms, SHORT_WAIT_MS), undefined, { signal })
  return new ParleyClient({ baseUrl, key, retries: 1000, wait })
}

/** A run's events as one client gets them. */
export class Follower {
  readonly items: Item[] = []
  /** Whether the stream signalled its end. */
  hasEnded = false
  /** Settles with the stream. */
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

/** An update that is looked at by repeating the request, which answers with its receipt as it stands. */
export class WatchedUpdate {
  readonly run_id: string
  readonly value: string
  readonly looks: Look[] = []
  receipt: (LateReceipt & { readonly update_id: string }) | null = null
  readonly #key = randomUUID()

  constructor(run_id: string, value: string) {
    this.run_id = run_id
    this.value = value
  }

  async look(client: ParleyClient): Promise<void> {
    const askedAt = Date.now()
    const body = change(this.value)
    const { update } = await client.runs.update({
      params: { run_id: this.run_id },
      body,
      idempotency_key: this.#key,
    })
    this.looks.push({ askedAt, answeredAt: Date.now(), status: update.status })
    this.receipt = update
  }

  /** Looks until it is settled, at most so long beyond its deadline. */
  async settled(client: ParleyClient, beyondMs: number): Promise<void> {
    for (;;) {
      await this.look(client)
      const { completed_at, deadline } = this.receipt!
      if (completed_at !== null || Date.now() > Date.parse(deadline) + beyondMs) return
      await pause(LOOK_EVERY_MS)
    }
  }
}

/** Sends an update and waits until it is settled; `appliedAt`: time of the first receipt with that state. */
export async function sendUpdate(client: ParleyClient, run_id: string, value: string): Promise<Sent> {
  const sentAt = Date.now()
  const update = new WatchedUpdate(run_id, value)
  await update.settled(client, BEYOND_DEADLINE_MS)
  const applied = update.looks.find(({ status }) => status === 'applied')
  return { value, sentAt, appliedAt: applied?.answeredAt ?? null }
}

/** The agent's turns of a run that has ended. */
export async function turnsOf(client: ParleyClient, run_id: string): Promise<Turn[]> {
  const { utterances } = await client.runs.transcript({ params: { run_id } })
  const askedAt: number[] = []
  const { items } = await client.runs.effects({ params: { run_id } })
  for (const { action, node_id, created_at } of items)
    if (action.id === 'model.infer' && node_id !== null) askedAt.push(Date.parse(created_at))
  askedAt.sort((a, b) => a - b)
  const turns = utterances.filter(({ role }) => role === 'agent')
  // Each turn asks the model once. Of the last, which the end of the call cut off, only the beginning was heard.
  return turns.flatMap(({ text, interrupted }, index) =>
    askedAt[index] === undefined || interrupted ? [] : [{ text, askedAt: askedAt[index] }],
  )
}

export async function timelineOf(client: ParleyClient, run_id: string): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of client.runs.timeline.all({ params: { run_id } })) items.push(item)
  return items
}

/** Resolves once the agent has spoken `turns` more times, as `follower` sees it; false: not within that time. */
export async function spoken(follower: Follower, turns: number, withinMs: number): Promise<boolean> {
  const count = () => follower.items.filter(item => item.kind === 'utterance').length
  const wanted = count() + turns
  const giveUpAt = Date.now() + withinMs
  while (count() < wanted) {
    if (Date.now() > giveUpAt) return false
    await pause(20)
  }
  return true
}

/** Calls `to`, and resolves with the run once the call is active. */
export async function calling(harness: CallHarness, agent_id: string, to: string, withinMs: number): Promise<string> {
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
