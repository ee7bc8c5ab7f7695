import { parentPort } from 'node:worker_threads'
import type { AudioFormat } from '@parley/kernel'
import { type Rendering, renderWithTones } from '../rendering.ts'

export interface RenderingTask {
  readonly speech: Int16Array
  readonly text: string
  readonly format: AudioFormat
}

const port = parentPort!
port.on('message', ({ speech, text, format }: RenderingTask) => {
  const rendering: Rendering = renderWithTones(speech, text, format)
  port.postMessage(rendering, [rendering.samples.buffer as ArrayBuffer])
})
