import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Ms } from '@parley/kernel'

interface ProgramRun {
  readonly command: string
  readonly args: readonly string[]
  readonly limitMs: Ms
  /** Called with each line of standard output. */
  readonly onLine?: (line: string) => void
}

interface ProgramEnd {
  /** Null: it could not be started, or a signal ended it. */
  readonly exitCode: number | null
  /** The end of its standard error, or why it could not be started. */
  readonly errors: string
}

const MAX_ERROR_CHARACTERS = 4000

/** Runs a program to its end; one that exceeds the time limit is killed. Never rejects. */
export function runProgram({ command, args, limitMs, onLine = () => {} }: ProgramRun): Promise<ProgramEnd> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = `${errors}${chunk}`.slice(-MAX_ERROR_CHARACTERS)
  })
  createInterface({ input: child.stdout }).on('line', onLine)
  const late = setTimeout(() => {
    errors += `\nIt did not end within ${limitMs / 60_000} minutes.`
    child.kill('SIGKILL')
  }, limitMs)
  return new Promise(resolve => {
    const end = (exitCode: number | null, reason: string) => {
      clearTimeout(late)
      resolve({ exitCode, errors: `${errors}${reason}`.trim() })
    }
    child.once('error', error => end(null, error.message))
    child.once('close', code => end(code, ''))
  })
}
