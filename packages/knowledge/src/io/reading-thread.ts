import { parentPort } from 'node:worker_threads'
import { type ReadTask, readDocument } from '../reading/read-document.ts'

parentPort!.on('message', async (task: ReadTask) => parentPort!.postMessage(await readDocument(task)))
