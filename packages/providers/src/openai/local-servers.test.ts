import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runningTime } from '@parley/kernel/testing'
import { expect, it, onTestFinished } from 'vitest'
import { vendorCatalogue } from '../vendors.ts'

/** A server of the kind of Kokoro: 100 ms of linear audio at 24 kHz for each request. */
async function openServer() {
  const requests: { url: string; headers: IncomingHttpHeaders; body: unknown }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString('utf8')
    })
    request.on('end', () => {
      requests.push({ url: request.url!, headers: request.headers, body: JSON.parse(body) })
      response.writeHead(200, { 'content-type': 'audio/pcm' }).end(Buffer.alloc(4800, 7))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { requests, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

it('a local voice is asked without a key, with the model and the voice of its setting', async () => {
  const { requests, baseUrl } = await openServer()
  const access = { apiKey: '', baseUrl, models: ['kokoro'], languages: ['en'], voice: 'af_heart' }
  const entry = vendorCatalogue({ local_tts: access }, runningTime).tts.find(
    ({ vendor }) => vendor.name === 'local_tts',
  )!
  expect([entry.models, entry.voices.map(({ id }) => id)]).toEqual([['kokoro'], ['af_heart']])
  const voice = entry.open!('kokoro')
  onTestFinished(() => voice.close())
  expect([voice.id, voice.languages, await voice.readiness()]).toEqual(['local_tts/kokoro', ['en'], null])
  let samples = 0
  for await (const chunk of voice.synthesize({ text: 'Hello.', language: 'en' }, new AbortController().signal))
    samples += chunk.samples.length
  expect(samples).toBe(800)
  expect(requests).toHaveLength(1)
  const [{ url, headers, body }] = requests as [(typeof requests)[number]]
  expect([url, headers.authorization]).toEqual(['/v1/audio/speech', undefined])
  expect(body).toEqual({ model: 'kokoro', input: 'Hello.', voice: 'af_heart', response_format: 'pcm' })
})

it('local services are listed only when a server is named, and before all others', () => {
  const named = { apiKey: '', baseUrl: 'http://127.0.0.1:9/v1', models: ['small.en'] }
  const without = vendorCatalogue({}, runningTime)
  const local = [...without.stt, ...without.tts].filter(({ vendor }) => vendor.name.startsWith('local_'))
  expect(local.flatMap(({ models }) => models)).toEqual([])
  const [first] = vendorCatalogue({ local_stt: named }, runningTime).stt
  const recogniser = first!.open!('small.en')
  expect([recogniser.id, recogniser.languages]).toEqual(['local_stt/small.en', ['en']])
})
