import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ms } from '@parley/kernel'
import { WebSocket } from 'ws'
import { percentile } from './figures.ts'
import { SERVICE_DELAYS, scriptedDelay } from './script.ts'
import { startServices } from './services-link.ts'

const REQUESTS = 24
/** The first requests open connections and warm up both processes. */
const WARM_UP = 6
/** Pause between requests, as between turns: long enough for the processes to go idle. */
const PAUSE_MS: Ms = 500

/** Delay of the services' answers beyond their script, measured with a bare client on this machine. */
export interface ServiceOverhead {
  readonly modelMs: Ms
  readonly voiceMs: Ms
}

/**
 * Measures what timers, processes and the loopback network add for a client that does nothing else. This part is not caused by
 * the engine, so the medians are subtracted. It uses services of its own, without the planted fault.
 */
export async function measureServiceOverhead(): Promise<ServiceOverhead> {
  const services = await startServices(0, [])
  try {
    return { modelMs: await modelOverhead(services.environment), voiceMs: await voiceOverhead(services.environment) }
  } finally {
    await services.end()
  }
}

async function median(request: () => Promise<Ms>): Promise<Ms> {
  const overheads: Ms[] = []
  for (let count = 0; count < REQUESTS; count++) {
    await sleep(PAUSE_MS)
    const overheadMs = await request()
    if (count >= WARM_UP) overheads.push(overheadMs)
  }
  return percentile(overheads, 0.5)
}

async function modelOverhead(at: Readonly<Record<string, string>>): Promise<Ms> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const body = JSON.stringify({
    model: 'claude-haiku-4-5',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: 'Hello.' }],
  })
  const headers = {
    'x-api-key': at.ANTHROPIC_API_KEY!,
    'anthropic-version': '2023-06-01',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const ask = () =>
    new Promise<Ms>((resolve, reject) => {
      const sentAt = performance.now()
      let first: Ms | null = null
      request(new URL('/v1/messages', at.ANTHROPIC_BASE_URL), { agent, method: 'POST', headers }, response => {
        response.on('data', chunk => {
          if (first === null && String(chunk).includes('content_block_delta')) first = performance.now() - sentAt
        })
        response.on('end', () => {
          if (first === null) reject(new Error(`the model service sent status ${response.statusCode} and no text`))
          else resolve(first - scriptedDelay(1, SERVICE_DELAYS.thinking))
        })
      })
        .on('error', reject)
        .end(body)
    })
  return median(ask).finally(() => agent.destroy())
}

async function voiceOverhead(at: Readonly<Record<string, string>>): Promise<Ms> {
  const version = '2025-04-16'
  const headers = { 'X-API-Key': at.CARTESIA_API_KEY!, 'Cartesia-Version': version }
  const socket = new WebSocket(`${at.CARTESIA_BASE_URL}/tts/websocket?cartesia_version=${version}`, { headers })
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject))
  let count = 0
  const ask = () =>
    new Promise<Ms>((resolve, reject) => {
      const context_id = `bare-${++count}`
      let first: Ms | null = null
      const sentAt = performance.now()
      const onMessage = (data: Buffer) => {
        const message = JSON.parse(data.toString()) as { context_id?: string; type?: string }
        if (message.context_id !== context_id) return
        if (message.type === 'chunk') first ??= performance.now() - sentAt
        if (message.type !== 'done' && message.type !== 'error') return
        socket.off('message', onMessage)
        if (first === null) reject(new Error('the voice service sent no audio'))
        else resolve(first - SERVICE_DELAYS.speaking)
      }
      socket.on('message', onMessage)
      socket.send(
        JSON.stringify({
          model_id: 'sonic-2',
          transcript: 'Certainly.',
          language: 'en',
          context_id,
          continue: false,
          voice: { mode: 'id', id: 'a0e99841-438c-4a64-b679-ae501e7d6091' },
          output_format: { container: 'raw', encoding: 'pcm_mulaw', sample_rate: 8000 },
          add_timestamps: true,
          use_normalized_timestamps: false,
        }),
      )
    })
  return median(ask).finally(() => socket.terminate())
}
