import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ParleyClient, type ResultFrom } from '@parley/client'
import { type Draft, readDraft } from '@parley/flow'
import { editsFor } from '../packages/cli/src/workspace/draft-edits.ts'
import type { AtTestEnd } from './clean-up.ts'
import type { Serving } from './serving.ts'

type Run = ResultFrom<'runs.get'>

const POLL_MS = 250

export function clientOf({ demo }: Pick<Serving, 'demo'>): ParleyClient {
  return new ParleyClient({ baseUrl: demo.api!, key: demo.key! })
}

/** The command that `npm start` prints for placing a call. */
export function printedCall({ output }: Pick<Serving, 'output'>): string {
  const line = output()
    .split('\n')
    .find(line => line.trim().startsWith('curl ') && line.includes('"outbound"'))
  if (line === undefined) throw new Error(`no command for a call was printed:\n${output()}`)
  return line.trim()
}

/** Runs a printed command in a shell, as a user would; returns the run that the API answered. */
export function runPrintedCommand(command: string): Run {
  return JSON.parse(execFileSync('sh', ['-c', `${command} --silent --show-error`], { encoding: 'utf8' })) as Run
}

/** Polls the run until `isWanted` accepts it; throws with its last state after `withinMs`. */
export async function waitForRun(
  client: ParleyClient,
  run_id: string,
  isWanted: (run: Run) => boolean,
  withinMs: number,
): Promise<Run> {
  const giveUpAt = performance.now() + withinMs
  for (;;) {
    const run = await client.runs.get({ params: { run_id } })
    if (isWanted(run)) return run
    if (performance.now() > giveUpAt) throw new Error(`after ${withinMs} ms the run is ${JSON.stringify(run)}`)
    await pause(POLL_MS)
  }
}

export const hasEnded = ({ state }: Run) => ['completed', 'failed', 'cancelled', 'rejected', 'expired'].includes(state)

/** Calls `read` until `isWanted` accepts its result; throws with the last result after `withinMs`. */
export async function eventually<Found>(
  read: () => Promise<Found>,
  isWanted: (found: Found) => boolean,
  withinMs: number,
): Promise<Found> {
  const giveUpAt = performance.now() + withinMs
  for (;;) {
    const found = await read()
    if (isWanted(found)) return found
    if (performance.now() > giveUpAt) throw new Error(`after ${withinMs} ms there is ${JSON.stringify(found)}`)
    await pause(POLL_MS)
  }
}

/** Creates an agent from a template and publishes it; returns its id. */
export async function publishTemplate(client: ParleyClient, template: 'cloud_chat' | 'cloud_task'): Promise<string> {
  const { ref, draft } = await client.agents.create({ body: { template, name: template } })
  const body = { draft_id: draft!.draft_id, expected_revision: draft!.revision }
  await client.publications.publish({ params: { agent_id: ref.id }, body })
  return ref.id
}

/** Publishes an agent that is this draft. */
export async function publishDraft(client: ParleyClient, agent_id: string, draft: Draft): Promise<void> {
  const params = { agent_id }
  await client.agents.create({ body: { template: 'blank', name: agent_id, agent_id, language: 'en' } })
  const { draft_id, revision: first } = await client.drafts.get({ params })
  let revision = first
  // A blank agent gets the voice of the first service that has a key.
  const voice = { type: 'agent.provider', role: 'tts', changes: { voiceId: 'kal' } } as const
  for (const edits of [[voice], ...editsFor(readDraft(draft))])
    revision = (await client.drafts.edit({ params, body: { draft_id, expected_revision: revision, edits } })).revision
  await client.publications.publish({ params, body: { draft_id, expected_revision: revision } })
}

/** Opens a chat and waits for the agent's first line; returns the id of its run. */
export async function openChat(client: ParleyClient, agent_id: string, withinMs: number): Promise<string> {
  const { run_id } = await client.runs.create({ body: { agent_id, channel: 'cloud', mode: 'chat' } })
  const transcript = () => client.runs.transcript({ params: { run_id } })
  await eventually(transcript, ({ utterances }) => utterances.length > 0, withinMs)
  return run_id
}

/** Downloads a recording and measures it with sox: its length, and the RMS amplitude of each channel. */
export async function measureRecording(
  url: string,
  atTestEnd: AtTestEnd,
): Promise<{ seconds: number; rms: readonly number[] }> {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`downloading the recording failed with HTTP status ${response.status}`)
  const directory = mkdtempSync(join(tmpdir(), 'parley-recording.'))
  atTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'call.wav')
  writeFileSync(file, new Uint8Array(await response.arrayBuffer()))
  const soxi = (flag: string) => Number(execFileSync('soxi', [flag, file], { encoding: 'utf8' }))
  const rms = Array.from({ length: soxi('-c') }, (_, channel) => {
    const output = execFileSync('sh', ['-c', `sox "$1" -n remix ${channel + 1} stat 2>&1`, 'sh', file], {
      encoding: 'utf8',
    })
    return Number(/RMS +amplitude: +([\d.]+)/.exec(output)?.[1])
  })
  return { seconds: soxi('-D'), rms }
}
