import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, onTestFinished } from 'vitest'
import { type AtTestEnd, cleanUp } from './clean-up.ts'

/** A started `run.sh`. It is ended, with everything that it started, when the test ends in any way. */
export interface Recipe {
  /** Configuration, logs and recordings of this run; removed after a test that passed. */
  readonly directory: string
  /** The exit status, once it has ended. */
  readonly exited: Promise<number>
  /** Standard output and error so far. */
  output(): string
  /** Resolves true when a line of the output matches, false when the recipe ended without one. */
  printed(line: RegExp): Promise<boolean>
  /** Ends it and waits until it has ended. */
  stop(): Promise<number>
}

const KILL_AFTER_MS = 8000

/** Cleanup after all tests of a file or `describe`. Call it while the tests are collected. */
export function atLastTestEnd(): AtTestEnd {
  const cleanups: Parameters<AtTestEnd>[0][] = []
  let state = 'pass'
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') state = 'fail'
  })
  afterAll(async () => {
    await cleanUp(cleanups, state)
  })
  return cleanup => void cleanups.push(cleanup)
}

/** Call it inside a test: the test's end is what cleans up. `script` is relative to this folder. */
export function startRecipe(
  script: string,
  env: Readonly<Record<string, string>>,
  atTestEnd: AtTestEnd = onTestFinished,
): Recipe {
  const directory = mkdtempSync(join(tmpdir(), 'parley-interop.'))
  const child = spawn(join(import.meta.dirname, script), [], {
    env: { ...process.env, CERT_DIR: certificateDirectory(), ...env, RUN_DIR: directory, END_WITH_STDIN: 'yes' },
    // The recipe ends when this pipe closes, also when the test process is killed.
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  const watchers = new Set<() => void>()
  const collect = (chunk: Buffer) => {
    output += chunk
    for (const watcher of [...watchers]) watcher()
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const exited = new Promise<number>(resolve => {
    child.on('error', error => {
      output += `${error}\n`
      resolve(-1)
    })
    child.on('close', code => resolve(code ?? -1))
  })
  const stop = () => endProcess(child, exited)
  atTestEnd(async ({ task }) => {
    await stop()
    if (task.result?.state === 'fail') console.log(`${script} left its logs in ${directory}\n${output}`)
    else rmSync(directory, { recursive: true, force: true })
  })
  return {
    directory,
    exited,
    output: () => output,
    stop,
    printed: line =>
      new Promise(resolve => {
        const look = () => {
          if (line.test(output)) resolve(true)
        }
        watchers.add(look)
        look()
        void exited.then(() => resolve(line.test(output)))
      }),
  }
}

async function endProcess(child: ChildProcess, exited: Promise<number>): Promise<number> {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  try {
    return await exited
  } finally {
    clearTimeout(timer)
  }
}

/** A file of a run, or '' when the run ended before there was one. */
export function readRunFile(directory: string, name: string): string {
  try {
    return readFileSync(join(directory, name), 'utf8')
  } catch {
    return ''
  }
}

/** Paths of PEM files made once per machine by `lib/certs.sh`. */
interface Certificates {
  readonly ca: string
  /** For 127.0.0.1 and localhost. */
  readonly engine: { readonly key: string; readonly cert: string }
  /** Signed by the same CA, for stranger.example: valid for no host of these tests. */
  readonly stranger: { readonly key: string; readonly cert: string }
}

export async function interopCertificates(): Promise<Certificates> {
  const directory = certificateDirectory()
  await promisify(execFile)(join(import.meta.dirname, 'lib/certs.sh'), [], {
    env: { ...process.env, CERT_DIR: directory },
  })
  const pair = (name: string) => ({ key: join(directory, `${name}.key`), cert: join(directory, `${name}.crt`) })
  return { ca: join(directory, 'ca.pem'), engine: pair('engine'), stranger: pair('stranger') }
}

function certificateDirectory(): string {
  return join(tmpdir(), `parley-interop-certificates-${userInfo().uid}`)
}
