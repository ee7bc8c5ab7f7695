import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { systemTime } from '@parley/kernel'
import type { TextEmbedder } from '@parley/providers'
import { OpenAiEmbedder } from '@parley/providers/testing'

/** The Python that finds `wordllama`, whose wheel ships the weights of a small embedding model; `.ci/run` makes one. */
export const EMBEDDER_PROGRAMS = {
  'wordllama-python': 'python3-venv; .ci/run installs wordllama==0.4.0.post1 there',
} as const

export const EMBEDDING_MODEL = { provider: 'openai', model_id: 'l2-supercat-256', tier: 'platform-served' } as const

export interface EmbeddingsServer {
  readonly baseUrl: string
  end(): Promise<void>
}

/** Starts the server in a process of its own. `wordsRead`: planted fault, it reads only so many words of each text; 0: all. */
export async function startEmbeddingsServer(wordsRead = 0): Promise<EmbeddingsServer> {
  const script = join(import.meta.dirname, 'embeddings-server.py')
  const server = spawn('wordllama-python', [script, String(wordsRead)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = new Promise<string>(resolve => {
    server.once('error', error => resolve(`the embeddings server did not start: ${error.message}`))
    server.once('exit', code => resolve(`the embeddings server ended with ${code}`))
  })
  const port = await Promise.race([
    new Promise<string>(resolve => createInterface(server.stdout).once('line', resolve)),
    exited.then(why => Promise.reject(new Error(why))),
  ])
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async end() {
      server.stdin.end()
      await exited
    },
  }
}

/** The product's adapter for OpenAI-compatible services, on the server at `baseUrl`. */
export function embedderAt(baseUrl: string): TextEmbedder {
  const { provider, model_id: model } = EMBEDDING_MODEL
  return new OpenAiEmbedder({ baseUrl, apiKey: null, provider, model, time: systemTime })
}
