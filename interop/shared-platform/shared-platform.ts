import { readFileSync, statSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest'
import { clientOf, hasEnded } from '../placed-call.ts'
import type { Serving } from '../serving.ts'
import type { Workspace } from './platform-process.ts'
import './global-setup.ts'

/** The platform that test files of a run share, and a workspace there that no other file uses. */
export interface SharedPlatform extends Pick<Serving, 'demo' | 'output'> {
  readonly home: string
}

/** The workspace Demo, which the start of the platform made: one file has it. */
export const DEMO = null

/**
 * Call it while the tests of a file are collected, and what it returns in its hooks and tests. The tests must not stop the platform, kill
 * one of its processes, or judge what it does for other workspaces. One that fails says where it ran, with the output of the platform since
 * it began. The runs that the file leaves behind are cancelled. `name`: of the workspace, which is made with the examples and an admin key.
 */
export function sharedPlatform(name: string | typeof DEMO): () => SharedPlatform {
  let workspace: Workspace | undefined
  let since = 0
  const begins = new Map<string, number>()
  const used = (): Workspace => {
    if (workspace === undefined) throw new Error('the shared platform is there from the first hook on')
    return workspace
  }
  const outputFrom = (offset: number) => readFileSync(used().log).subarray(offset).toString()
  beforeAll(async () => {
    workspace = await workspaceOf(name)
    if (name !== DEMO) since = statSync(workspace.log).size
  }, 180_000)
  beforeEach(({ task }) => void begins.set(task.id, statSync(used().log).size))
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return
    const { pid, name } = used()
    const output = outputFrom(begins.get(task.id)!)
    throw new Error(
      `it ran in the workspace ${name} of the shared platform (process ${pid}), which then printed:\n${output}`,
    )
  })
  afterAll(async () => {
    if (workspace !== undefined) await cancelRuns(workspace)
  })
  return () => ({ demo: used().demo, home: used().home, output: () => outputFrom(since) })
}

async function workspaceOf(name: string | null): Promise<Workspace> {
  const query = name === DEMO ? '' : `?workspace=${encodeURIComponent(name)}`
  const response = await fetch(`http://127.0.0.1:${inject('parleySharedPlatform')}/${query}`)
  const text = await response.text()
  if (!response.ok) throw new Error(`there is no shared platform: ${text}`)
  return JSON.parse(text) as Workspace
}

async function cancelRuns(workspace: Workspace): Promise<void> {
  const client = clientOf(workspace)
  // It may end meanwhile.
  for await (const run of client.runs.list.all({ query: {} }))
    if (!hasEnded(run)) await client.runs.cancel({ params: { run_id: run.run_id }, body: {} }).catch(() => {})
}
