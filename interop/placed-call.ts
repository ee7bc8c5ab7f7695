import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ParleyClient, type ResultFrom } from '@parley/client'
import type { AtTestEnd } from './recipe.ts'
import type { Serving } from './serving.ts'

export type Run = ResultFrom<'runs.get'>

const LOOK_MS = 250

export function clientOf({ demo }: Pick<Serving, 'demo'>): ParleyClient {
  return new ParleyClient({ baseUrl: demo.api!, key: demo.key! })
}

/** The command that a start prints for a call, from the line as it stands there. */
export function printedCall({ output }: Serving): string {
  const line = output()
    .split('\n')
    .find(line => line.trim().startsWith('curl ') && line.includes('"outbound"'))
  if (line === undefined) throw new Error(`no command for a call was printed:\n${output()}`)
  return line.trim()
}

/** Runs a printed command as a person would; what the API answered. */
export function typed(command: string): Run {
  return JSON.parse(execFileSync('sh', ['-c', `${command} --silent --show-error`], { encoding: 'utf8' })) as Run
}

/** The run once `isWanted`; throws with what it is when `withinMs` are over. */
export async function runOnce(
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
    await pause(LOOK_MS)
  }
}

export const hasEnded = ({ state }: Run) => ['completed', 'failed', 'cancelled', 'rejected', 'expired'].includes(state)

/** What `read` answers once it is as wanted; throws with what there is when `withinMs` are over. */
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
    await pause(LOOK_MS)
  }
}

/** The audio behind a recording's link, as sox reads it: how long it is, and how loud each channel. */
export async function soxOf(url: string, atTestEnd: AtTestEnd): Promise<{ seconds: number; rms: readonly number[] }> {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`the recording is answered ${response.status}`)
  const directory = mkdtempSync(join(tmpdir(), 'parley-recording.'))
  atTestEnd(() => rmSync(directory, { recursive: true, force: true }))
  const file = join(directory, 'call.wav')
  writeFileSync(file, new Uint8Array(await response.arrayBuffer()))
  const soxi = (flag: string) => Number(execFileSync('soxi', [flag, file], { encoding: 'utf8' }))
  const rms = Array.from({ length: soxi('-c') }, (_, channel) => {
    const said = execFileSync('sh', ['-c', `sox "$1" -n remix ${channel + 1} stat 2>&1`, 'sh', file], {
      encoding: 'utf8',
    })
    return Number(/RMS +amplitude: +([\d.]+)/.exec(said)?.[1])
  })
  return { seconds: soxi('-D'), rms }
}
