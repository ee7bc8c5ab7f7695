// The thread that `ReadingThreads` starts: one task, one outcome.
import { parentPort } from 'node:worker_threads'
import { type ReadTask, readTask } from './read-task.ts'

const port = parentPort
if (port === null) throw new Error('this is the script of a thread')
port.on('message', (task: ReadTask) => port.postMessage(readTask(task)))
