import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ParleyClient } from '@parley/client'
import { asStaff, attachEmbeddedPostgres } from '@parley/store'
import { readSettings } from '../../packages/cli/src/environment.ts'
import { Services } from '../../packages/cli/src/services.ts'
import { createWorkspace, createWorkspaceKey } from '../../packages/cli/src/workspace/new-workspace.ts'
import { seedExamples } from '../../packages/cli/src/workspace/seed-examples.ts'
import { readSeedRecord } from '../../packages/cli/src/workspace/seed-record.ts'
import { cpuOf } from '../../scripts/proofs/web-calls/cpu-of.ts'
import { type AtTestEnd, cleanUp } from '../clean-up.ts'
import { type Serving, startServing, temporaryHome } from '../serving.ts'

/** Files of the home on which the examples of every workspace depend: passwords of the built-in phone and the example server. */
const SECRETS = ['demo-phone-password', 'demo-webhook-secret']

/** A workspace of the shared platform, as JSON tells test files of it. */
export interface Workspace {
  readonly name: string
  /** Of the platform. */
  readonly pid: number
  readonly home: string
  /** File with the output of the platform. */
  readonly log: string
  readonly demo: Serving['demo']
}

/** A `parley serve` process that started in an empty home, and workspaces on it that have what its first one has. */
export class PlatformProcess {
  readonly demo: Workspace
  readonly #cleanups: Parameters<AtTestEnd>[0][]
  readonly #ownerUrl: string
  readonly #services: Services

  private constructor(demo: Workspace, ownerUrl: string, cleanups: Parameters<AtTestEnd>[0][]) {
    this.demo = demo
    this.#ownerUrl = ownerUrl
    this.#cleanups = cleanups
    this.#services = new Services(readSettings({ ...process.env, PARLEY_HOME: demo.home }))
    cleanups.push(() => this.#services.close())
  }

  static async start(): Promise<PlatformProcess> {
    const cleanups: Parameters<AtTestEnd>[0][] = []
    const atEnd: AtTestEnd = cleanup => void cleanups.push(cleanup)
    try {
      const home = temporaryHome(atEnd)
      const log = join(home, 'output.log')
      writeFileSync(log, '')
      const { pid, demo } = await startServing(atEnd, { home, onOutput: text => appendFileSync(log, text) })
      return new PlatformProcess({ name: 'Demo', pid, home, log, demo }, await attachEmbeddedPostgres(home), cleanups)
    } catch (error) {
      await cleanUp(cleanups)
      throw error
    }
  }

  /** A workspace with the examples, numbers and the trunk of the built-in phone, and an admin key of its own. */
  async newWorkspace(name: string): Promise<Workspace> {
    const { home, demo } = this.demo
    const key = await asStaff(this.#ownerUrl, async tx => createWorkspaceKey(tx, await createWorkspace(tx, name)))
    const client = new ParleyClient({ baseUrl: demo.api!, key })
    const seedHome = mkdtempSync(join(tmpdir(), 'parley-seed.'))
    for (const file of SECRETS) cpSync(join(home, file), join(seedHome, file))
    const origin = `http://127.0.0.1:${(await readSeedRecord(home)).port}`
    const problems: string[] = []
    const seeded = await seedExamples(seedHome, client, this.#services, origin, line => problems.push(line), {
      webhooks: true,
    }).finally(() => rmSync(seedHome, { recursive: true, force: true }))
    const clinic = seeded.find(({ agentId }) => agentId === demo.agent_id)
    if (clinic === undefined) throw new Error(`the workspace ${name} has no clinic: ${problems.join('; ')}`)
    return {
      ...this.demo,
      name,
      demo: { ...demo, key, console: `${demo.api}/console#key=${key}`, sip: clinic.sip, number: clinic.number },
    }
  }

  stop(): Promise<void> {
    if (process.platform === 'linux') {
      const seconds = (cpuOf(this.demo.pid) / 1000).toFixed(1)
      process.stdout.write(
        `  the platform that test files shared took ${seconds} s of processors, without its database\n`,
      )
    }
    return cleanUp(this.#cleanups)
  }
}
