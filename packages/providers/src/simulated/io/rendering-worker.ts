import { parentPort } from 'node:worker_threads'
import { type Rendering, renderWithTones } from '../rendering.ts'

export interface RenderingTask {
  readonly speech: Int16Array
  readonly text: string
}

const port = parentPort!
port.on('message', ({ speech, text }: RenderingTask) => {
  const rendering: Rendering = renderWithTones(speech, text)
  port.postMessage(rendering, [rendering.samples.buffer as ArrayBuffer])
})
