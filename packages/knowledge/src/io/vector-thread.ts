import { parentPort, workerData } from 'node:worker_threads'
import { type VectorTask, VectorTasks } from '../vectors/vector-tasks.ts'

const tasks = new VectorTasks((workerData as { readonly maxBytes: number }).maxBytes)

parentPort!.on('message', (task: VectorTask) => parentPort!.postMessage(tasks.run(task)))
