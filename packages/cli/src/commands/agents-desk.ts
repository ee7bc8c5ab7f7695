import type { ParleyClient } from '@parley/client'
import { UsageError } from '../usage.ts'

/** What a command of agents needs of the world. */
export interface Desk {
  readonly client: ParleyClient
  /** To standard output. */
  readonly print: (text: string) => void
  /** To standard error: what people should know beside the result. */
  readonly remark: (text: string) => void
}

/** A command whose arguments are understood; resolves with the exit code. */
export type Work = (desk: Desk) => Promise<number>

/** The one argument that names an agent. */
export function theAgent(positionals: readonly string[], usage: string): string {
  const [agent] = positionals
  if (agent === undefined || agent === '' || positionals.length !== 1) throw new UsageError(`usage: ${usage}`)
  return agent
}
