// A web caller of aiortc: an ICE agent, an SCTP stack and a jitter buffer that share no code with the engine's or with Chromium's.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readWav } from '@parley/media'
import { onTestFinished } from 'vitest'
import type { AtTestEnd } from './clean-up.ts'
import { pathOf } from './skip.ts'
import { monoWav } from './wav-file.ts'

const PYTHON = 'aiortc-python'
const KILL_AFTER_MS = 8000

/** The address and the token of a web run. */
interface WebAccess {
  readonly url: string
  readonly token: string
}

interface AiortcEnd {
  /** 0: it was connected; 1: it was not. */
  readonly exitCode: number
  /** What it heard, at `sampleRate`. */
  readonly heard: Int16Array
  readonly sampleRate: number
}

/** One call of aiortc, which begins at once. The test's end ends its process. */
export class AiortcCaller {
  readonly #directory = mkdtempSync(join(tmpdir(), 'parley-aiortc.'))
  readonly #child
  readonly #exited: Promise<number>
  #output = ''
  #said = 0

  constructor({ url, token }: WebAccess, atTestEnd: AtTestEnd = onTestFinished) {
    const env = { ...process.env, URL: url, TOKEN: token, WAV_OUT: join(this.#directory, 'heard.wav') }
    const child = spawn(pathOf(PYTHON)!, [join(import.meta.dirname, 'aiortc/caller.py')], { env })
    this.#child = child
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        this.#output += chunk
      })
    // It may have ended already.
    child.stdin.on('error', () => {})
    this.#exited = new Promise(resolve => {
      child.once('error', () => resolve(-1))
      child.once('close', code => resolve(code ?? -1))
    })
    atTestEnd(async () => {
      await this.#close()
      rmSync(this.#directory, { recursive: true, force: true })
    })
  }

  /** One line for each event; the script names them. */
  get output(): string {
    return this.#output
  }

  /** Messages of the agent's side, in order. */
  get messages(): readonly { readonly type: string; readonly [field: string]: unknown }[] {
    return this.#argumentsOf('message').map(text => JSON.parse(text))
  }

  /** Lines of the engine's answer. */
  get answer(): readonly string[] {
    return this.#argumentsOf('sdp')
  }

  /** Speaks after what is being said. */
  speak(samples: Int16Array, sampleRate: number): void {
    const path = join(this.#directory, `said-${this.#said++}.wav`)
    writeFileSync(path, monoWav(samples, sampleRate))
    this.#order(`say ${path}`)
  }

  /** Sends a message on the data channel. */
  send(message: object): void {
    this.#order(`send ${JSON.stringify(message)}`)
  }

  /** Ends the call by DELETE. */
  delete(): void {
    this.#order('delete')
  }

  /** Closes its connection and reads what it heard. */
  async end(): Promise<AiortcEnd> {
    this.#order('end')
    const exitCode = await this.#close()
    const { channels, sampleRate } = readWav(readFileSync(join(this.#directory, 'heard.wav')))
    return { exitCode, heard: channels[0]!, sampleRate }
  }

  #argumentsOf(event: string): string[] {
    // The last line may be incomplete.
    const lines = this.#output.split('\n').slice(0, -1)
    return lines.filter(line => line.startsWith(`${event} `)).map(line => line.slice(event.length + 1))
  }

  #order(line: string): void {
    this.#child.stdin.write(`${line}\n`)
  }

  /** It ends with its standard input. */
  async #close(): Promise<number> {
    this.#child.stdin.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), KILL_AFTER_MS)
    return this.#exited.finally(() => clearTimeout(timer))
  }
}
