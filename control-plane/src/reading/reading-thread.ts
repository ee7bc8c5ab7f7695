// The worker thread of `ReadingThreads`: it answers each task with one outcome.
import { parentPort } from 'node:worker_threads'
import { type DraftTask, doDraftWork } from './draft-work.ts'
import { type ReadTask, readTask } from './read-task.ts'
import { type SplitTask, splitMessage } from './split-message.ts'

const port = parentPort
if (port === null) throw new Error('reading-thread.ts runs as a worker thread only: use ReadingThreads')
port.on('message', (task: ReadTask | SplitTask | DraftTask) => {
  if ('work' in task) return port.postMessage(doDraftWork(task))
  if ('operation' in task) return port.postMessage(readTask(task))
  const outcome = splitMessage(task.message)
  const moved = outcome.state === 'split' && outcome.body !== null ? [outcome.body.buffer] : []
  port.postMessage(outcome, moved)
})
