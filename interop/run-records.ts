import type { ParleyClient, ResultFrom } from '@parley/client'
import { readWav } from '@parley/media'
import { eventually } from './placed-call.ts'

type Run = ResultFrom<'runs.get'>

/** Usage is billed within this window around now. */
const HOUR_MS = 3_600_000

/** The recording of a run, once it is ready. */
export async function recordingOf(
  client: ParleyClient,
  run_id: string,
  withinMs: number,
): Promise<ReturnType<typeof readWav>> {
  const read = () => client.runs.recording({ params: { run_id } })
  const recording = await eventually(read, ({ state }) => state === 'ready', withinMs)
  return readWav(Buffer.from(await (await fetch(recording.media_url!)).arrayBuffer()))
}

/** Events of the webhooks that the example server got for a run, in order, once the run's end is among them. */
export async function webhooksOf(
  client: ParleyClient,
  { run_id, agent_id, publication: { version } }: Run,
  withinMs: number,
): Promise<readonly string[]> {
  const { plan } = await client.publications.get({ params: { agent_id, version } })
  const read = async () => {
    const response = await fetch(`${plan.notification!.url}?run_id=${run_id}`)
    return ((await response.json()) as { events: { event: string }[] }).events.map(({ event }) => event)
  }
  return eventually(read, events => events.includes('run.ended'), withinMs)
}

/** The meters that a call with the demo's agents moves, by phone or by web. */
export const CALL_METERS = [
  'connected_ms',
  'llm_input_tokens',
  'llm_output_tokens',
  'stt_ms',
  'tts_characters',
] as const

/** Those of `CALL_METERS` by which an ended run is billed. Throws when it is not billed for the time that it was connected. */
export async function metersOf(client: ParleyClient, { run_id, agent_id, connected_ms }: Run) {
  const [from, to] = [-HOUR_MS, HOUR_MS].map(ms => new Date(Date.now() + ms).toISOString()) as [string, string]
  const { rows } = await client.usage.summary({ query: { group_by: 'run', from, to, agent_id } })
  const usage = rows.find(({ key }) => key === run_id)
  if (usage?.runs !== 1 || usage.connected_ms !== connected_ms)
    throw new Error(`a run that was connected for ${connected_ms} ms has the usage ${JSON.stringify(usage)}`)
  return CALL_METERS.filter(meter => (usage[meter] ?? 0) > 0)
}
