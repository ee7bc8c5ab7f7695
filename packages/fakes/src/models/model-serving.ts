import type { ServerResponse } from 'node:http'
import { type Ms, type Random, randomBelow, type Time } from '@parley/kernel'
import type { FakeHttpAnswer, FakeModelAnswer } from './model-dialect.ts'
import type { FakeModelStep, FakeStreamStyle } from './model-step.ts'

interface ModelServingOptions {
  readonly response: ServerResponse
  readonly answer: FakeModelAnswer
  readonly style: FakeStreamStyle
  readonly time: Time
  readonly random: Random
  readonly refusal: (why: 'key' | 'busy' | 'down') => FakeHttpAnswer
}

/** Plays the steps of one answer. */
export class ModelServing {
  readonly #options: ModelServingOptions
  readonly #response: ServerResponse
  readonly #closed: Promise<void>
  #hasBegun = false
  #isOver = false

  constructor(options: ModelServingOptions) {
    this.#options = options
    this.#response = options.response
    this.#closed = new Promise(resolve => options.response.once('close', () => resolve()))
  }

  get wasAbandoned(): boolean {
    return !this.#isOver
  }

  async play(steps: readonly FakeModelStep[]): Promise<void> {
    for (const step of steps) {
      if (this.#isOver || this.#response.destroyed) return
      await this.#take(step)
    }
    if (this.#isOver || this.#response.destroyed) return
    const { answer, style } = this.#options
    if (!answer.isFinished) return this.#breakOff()
    if (style.whole === true) {
      this.#isOver = true
      this.#response.writeHead(200, { 'content-type': 'application/json' }).end(answer.document())
      return
    }
    await this.#write(answer.done())
    this.#end()
  }

  async #take(step: FakeModelStep): Promise<void> {
    const { answer, style, refusal } = this.#options
    switch (step.do) {
      case 'wait':
        return this.#wait(step.ms)
      case 'stall':
        return this.#closed
      case 'break-off':
        return this.#breakOff()
      case 'end':
        return this.#end()
      case 'turn-away':
        return this.#instead({
          ...refusal('busy'),
          headers: step.retryAfter === undefined ? {} : { 'retry-after': step.retryAfter },
        })
      case 'refuse':
        return this.#instead(refusal('key'))
      case 'go-down':
        return this.#instead({ ...refusal('down'), status: step.status })
      case 'answer':
        this.#isOver = true
        this.#response.writeHead(step.status, step.headers).end(step.body)
        return
      default: {
        const lines = answer.lines(step)
        if (style.whole !== true || step.do === 'write') await this.#write(lines)
      }
    }
  }

  #instead(answer: FakeHttpAnswer): void {
    this.#isOver = true
    answerWith(this.#response, answer)
  }

  #breakOff(): void {
    this.#isOver = true
    this.#response.destroy()
  }

  #end(): void {
    this.#begin()
    this.#isOver = true
    this.#response.end()
  }

  #begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  }

  /** Writes each piece separately; resolves when all are written. */
  async #write(text: string): Promise<void> {
    this.#begin()
    const bytes = Buffer.from(text, 'utf8')
    const { pieces } = this.#options.style
    for (let at = 0; at < bytes.length && !this.#response.destroyed; ) {
      const length = pieces === undefined ? bytes.length : 1 + randomBelow(this.#options.random, pieces)
      const piece = bytes.subarray(at, at + length)
      await new Promise<void>(resolve => this.#response.write(piece, () => resolve()))
      at += length
    }
  }

  async #wait(ms: Ms): Promise<void> {
    const { time } = this.#options
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = time.at(time.now() + ms, resolve)
    await Promise.race([promise, this.#closed])
    timer.cancel()
  }
}

export function answerWith(response: ServerResponse, { status, headers, body }: FakeHttpAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
