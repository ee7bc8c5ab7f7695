import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { constants, cpus, setPriority } from 'node:os'
import { join } from 'node:path'
import { LoadtestError } from '../errors.ts'
import type { FleetPart, FleetReply, FleetRequest } from '../fleet/fleet-messages.ts'

const TASKSET = '/usr/bin/taskset'
const CLOSE_MS = 15_000

/** One process of a fleet, as its parent sees it. */
export class FleetMember {
  readonly #process: ChildProcess
  readonly #listeners = new Set<(reply: FleetReply) => void>()
  readonly #exited: Promise<void>
  #isClosing = false

  private constructor(child: ChildProcess) {
    this.#process = child
    child.on('message', (reply: FleetReply) => {
      for (const listener of [...this.#listeners]) listener(reply)
    })
    this.#exited = new Promise(resolve => child.once('exit', () => resolve()))
  }

  /** Starts a process on its core and with its nice value, and opens its phones. Throws "not_permitted" and "generator_failed". */
  static async open(
    part: FleetPart,
    onReply: (reply: FleetReply) => void,
  ): Promise<{ member: FleetMember; uris: readonly string[] }> {
    const { cores, nice } = part.scenario.generator
    const core = cores.length === 0 ? null : cores[part.index % cores.length]!
    const last = cpus().length - 1
    if (core !== null && core > last)
      throw new LoadtestError(
        'not_permitted',
        `generator.cores: there is no core ${core} on this machine, which has ${last === 0 ? 'core 0 alone' : `cores 0 to ${last}`}`,
      )
    if (core !== null && !existsSync(TASKSET))
      throw new LoadtestError(
        'not_permitted',
        `generator.cores needs ${TASKSET}: install util-linux or leave the setting out`,
      )
    const prefix = core === null ? [process.execPath] : [TASKSET, '-c', String(core), process.execPath]
    const child = fork(join(import.meta.dirname, '../fleet-process.ts'), {
      serialization: 'advanced',
      execPath: prefix[0]!,
      execArgv: prefix.slice(1),
    })
    const member = new FleetMember(child)
    try {
      renice(child, nice)
      const opened = await member.#ask({ type: 'open', part }, 'opened')
      member.#listeners.add(onReply)
      void member.#exited.then(() => {
        if (!member.#isClosing) onReply({ type: 'failed', message: `process ${part.index} of the fleet ended` })
      })
      return { member, uris: opened.uris }
    } catch (error) {
      child.kill()
      throw error
    }
  }

  /** The calls that it has begun by now. Throws "generator_failed". */
  async countBegun(): Promise<number> {
    return (await this.#ask({ type: 'count' }, 'counted')).begun
  }

  send(request: FleetRequest): void {
    if (this.#process.connected) this.#process.send(request)
  }

  /** Hangs up its calls and ends the process, by force after 15 s. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.send({ type: 'close' })
    const timer = setTimeout(() => this.#process.kill('SIGKILL'), CLOSE_MS)
    await this.#exited
    clearTimeout(timer)
  }

  #ask<T extends FleetReply['type']>(request: FleetRequest, type: T): Promise<Extract<FleetReply, { type: T }>> {
    const answer = Promise.withResolvers<Extract<FleetReply, { type: T }>>()
    const listener = (reply: FleetReply) => {
      if (reply.type === type) answer.resolve(reply as Extract<FleetReply, { type: T }>)
      if (reply.type === 'failed') answer.reject(new LoadtestError('generator_failed', reply.message))
    }
    this.#listeners.add(listener)
    void this.#exited.then(() =>
      answer.reject(new LoadtestError('generator_failed', 'a process of the fleet ended before it answered')),
    )
    this.send(request)
    return answer.promise.finally(() => this.#listeners.delete(listener))
  }
}

function renice(child: ChildProcess, nice: number): void {
  if (nice === constants.priority.PRIORITY_NORMAL) return
  try {
    setPriority(child.pid!, nice)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new LoadtestError(
      'not_permitted',
      `generator.nice ${nice} is not permitted (${why}): use 0 to 19, or run with CAP_SYS_NICE`,
    )
  }
}
