import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ms } from '@parley/kernel'
import { WebSocket } from 'ws'
import { percentile } from './figures.ts'
import { SERVICE_DELAYS, scriptedDelay } from './script.ts'
import { startServices } from './services-link.ts'

const TRIES = 24
/** The first tries open connections and warm both processes up. */
const WARM_UP = 6
/** Turns come as far apart as no process stays awake. */
const APART_MS: Ms = 500

/** Delay of a service's answer beyond its script, measured now over a bare socket on this machine. */
export interface Lateness {
  readonly modelMs: Ms
  readonly voiceMs: Ms
}

/**
 * What timers, processes and loopback cost a client that does nothing else. It is the services', not the engine's: the median is
 * taken off. Of services of its own, so that a planted fault is not taken off with it.
 */
export async function bareLateness(): Promise<Lateness> {
  const services = await startServices(0)
  try {
    return { modelMs: await modelLateness(services.environment), voiceMs: await voiceLateness(services.environment) }
  } finally {
    await services.end()
  }
}

async function median(ask: () => Promise<Ms>): Promise<Ms> {
  const late: Ms[] = []
  for (let tries = 0; tries < TRIES; tries++) {
    await sleep(APART_MS)
    const took = await ask()
    if (tries >= WARM_UP) late.push(took)
  }
  return percentile(late, 0.5)
}

async function modelLateness(at: Readonly<Record<string, string>>): Promise<Ms> {
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
          if (first === null) reject(new Error(`the model answered ${response.statusCode} and no word`))
          else resolve(first - scriptedDelay(1, SERVICE_DELAYS.thinking))
        })
      })
        .on('error', reject)
        .end(body)
    })
  return median(ask).finally(() => agent.destroy())
}

async function voiceLateness(at: Readonly<Record<string, string>>): Promise<Ms> {
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
