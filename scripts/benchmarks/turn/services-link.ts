import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Ms } from '@parley/kernel'
import type { PlantedFault } from './faults.ts'

const START_MS: Ms = 60_000

/** Services in a process of their own. */
interface ServicesLink {
  /** Environment variables with which the engine uses them. */
  readonly environment: Readonly<Record<string, string>>
  readonly pid: number
  end(): Promise<void>
}

/** `plantedMs`: delay of the model beyond its script. */
export async function startServices(plantedMs: Ms, faults: readonly PlantedFault[]): Promise<ServicesLink> {
  const child = fork(join(import.meta.dirname, 'services-process.ts'), [String(plantedMs), ...faults])
  try {
    return { environment: await environmentOf(child), pid: child.pid!, end: () => stop(child) }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

async function environmentOf(child: ChildProcess): Promise<Readonly<Record<string, string>>> {
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<string, string>>>()
  const timer = setTimeout(() => reject(new Error(`the services did not start within ${START_MS} ms`)), START_MS)
  child.once('message', message => resolve(message as Readonly<Record<string, string>>))
  child.once('exit', code => reject(new Error(`the services ended with ${code}`)))
  return promise.finally(() => clearTimeout(timer))
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await exited
}
