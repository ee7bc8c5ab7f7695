import { readFile } from 'node:fs/promises'
import type { CallReport } from '@parley/engine/testing'
import { readWav } from '@parley/media'
import { CallSound } from './call-sound.ts'

/** The sound of both sides of a call from its recording; null: there is none. */
export async function soundOf(report: CallReport): Promise<CallSound | null> {
  const path = report.end.media?.recording?.path
  if (path === undefined) return null
  const [caller, agent] = readWav(await readFile(path)).channels
  return caller === undefined || agent === undefined ? null : new CallSound(caller, agent)
}
