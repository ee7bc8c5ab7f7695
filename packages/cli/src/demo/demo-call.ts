import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type EventFrom, ParleyClient } from '@parley/client'
import type { Ms } from '@parley/kernel'
import { readWav } from '@parley/media'
import { CliError } from '../errors.ts'
import { describeItem } from '../event-lines.ts'
import type { DemoEvidence, DemoRecording } from './demo-report.ts'

interface DemoCall {
  /** Base URL of the API. */
  readonly api: string
  readonly key: string
  readonly agentId: string
  /** Called number, E.164. */
  readonly to: string
}

/** Time limit for the call of the demo. */
const CALL_MS: Ms = 180_000
/** Time limit for records that are written after the end of a run. */
const SETTLED_MS: Ms = 20_000
const POLL_MS: Ms = 100

/** The run of the demo. It uses the API only, as any client does. */
export class DemoRun {
  readonly id: string
  readonly #client: ParleyClient

  private constructor(client: ParleyClient, id: string) {
    this.#client = client
    this.id = id
  }

  /** Creates the run. Rejects with `ParleyApiError` if the API refuses it. */
  static async place(call: DemoCall): Promise<DemoRun> {
    const client = new ParleyClient({ baseUrl: call.api, key: call.key })
    const { agentId: agent_id, to } = call
    const { run_id } = await client.runs.create({ body: { agent_id, channel: 'phone', mode: 'outbound', to } })
    return new DemoRun(client, run_id)
  }

  /** Reports timeline items as they happen and returns all of them at the end. Throws "demo_failed" if the run does not end. */
  async follow(printLine: (line: string) => void): Promise<readonly EventFrom<'runs.events'>[]> {
    const params = { run_id: this.id }
    const signal = AbortSignal.timeout(CALL_MS)
    const timeline: EventFrom<'runs.events'>[] = []
    try {
      for await (const item of this.#client.runs.events({ params }, { signal })) {
        timeline.push(item)
        const line = item.kind === 'state' ? `run ${item.state}, phone ${item.phone_state}` : describeItem(item)
        if (line !== null) printLine(line)
      }
    } catch (cause) {
      if (!signal.aborted) throw cause
      throw new CliError('demo_failed', `the run did not end within ${CALL_MS / 1000} s`, { cause })
    }
    return timeline
  }

  /** Reads the records of the ended run; the recording is downloaded into `directory`. */
  async readBack(directory: string): Promise<Omit<DemoEvidence, 'timeline' | 'webhooks' | 'transport'>> {
    const params = { run_id: this.id }
    const { runs } = this.#client
    const recording = await this.#download(join(directory, `demo-${this.id}.wav`))
    return {
      run: await runs.get({ params }),
      transcript: await runs.transcript({ params }),
      effects: (await runs.effects({ params })).items,
      usage: await this.#usage(),
      recording,
    }
  }

  async #download(path: string): Promise<DemoRecording | null> {
    const params = { run_id: this.id }
    const read = () => this.#client.runs.recording({ params })
    const isDone = ({ state }: Awaited<ReturnType<typeof read>>) =>
      !['pending', 'recording', 'processing'].includes(state)
    const { media_url: url } = await until(read, isDone)
    if (url === null) return null
    const response = await fetch(url, { signal: AbortSignal.timeout(SETTLED_MS) })
    if (!response.ok)
      throw new CliError('demo_failed', `downloading the recording failed with HTTP status ${response.status}`)
    const bytes = new Uint8Array(await response.arrayBuffer())
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, bytes)
    const { channels, sampleRate } = readWav(bytes)
    const duration_ms = Math.round((1000 * channels[0]!.length) / sampleRate)
    return { path, channels: channels.length, sample_rate_hz: sampleRate, duration_ms }
  }

  async #usage(): Promise<DemoEvidence['usage']> {
    const now = Date.now()
    const [from, to] = [now - 3_600_000, now + 60_000].map(at => new Date(at!).toISOString()) as [string, string]
    const { rows } = await this.#client.usage.summary({ query: { group_by: 'run', from, to } })
    return rows.find(({ key }) => key === this.id) ?? null
  }
}

/** Repeats `read` until `isWanted` accepts the result, for 20 s at most; returns the last result. */
export async function until<Found>(
  read: () => Found | Promise<Found>,
  isWanted: (found: Found) => boolean,
): Promise<Found> {
  const giveUpAt = performance.now() + SETTLED_MS
  for (;;) {
    const found = await read()
    if (isWanted(found) || performance.now() >= giveUpAt) return found
    await pause(POLL_MS)
  }
}
