import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readSettings } from './environment.ts'
import { localServerLines } from './local-servers.ts'
import { Services } from './services.ts'

const STT = 'http://127.0.0.1:8000/v1/?model=Systran/faster-whisper-small&languages=en'

describe('local servers', () => {
  it('local servers are named by a URL, with model, languages and voice in its query', () => {
    const { vendors } = readSettings({ PARLEY_LOCAL_STT: STT, PARLEY_LOCAL_TTS: 'http://127.0.0.1:8880/v1' })
    expect(vendors).toEqual({
      local_stt: {
        apiKey: '',
        baseUrl: 'http://127.0.0.1:8000/v1',
        models: ['Systran/faster-whisper-small'],
        languages: ['en'],
      },
      local_tts: { apiKey: '', baseUrl: 'http://127.0.0.1:8880/v1', models: ['tts-1'], voice: 'alloy' },
    })
  })

  it.each([
    ['127.0.0.1:8000', 'PARLEY_LOCAL_STT: must be an address such as http://'],
    ['http://user:pass@127.0.0.1/v1', 'PARLEY_LOCAL_STT: must be an address'],
    ['http://127.0.0.1/v1?modle=x', 'PARLEY_LOCAL_STT: takes model, languages, voice after the "?", not modle'],
    ['http://127.0.0.1/v1?languages=English', 'PARLEY_LOCAL_STT: languages must be tags such as en,es'],
  ])('the address %s is refused with what is wrong', (address, text) => {
    expect(() => readSettings({ PARLEY_LOCAL_STT: address })).toThrow(text)
  })

  it('local servers are the first services of agents in their languages', async () => {
    const services = new Services(readSettings({ PARLEY_LOCAL_STT: STT }))
    onTestFinished(() => services.close())
    expect((await services.ready('stt', 'en'))[0]).toBe('local_stt/Systran/faster-whisper-small')
    expect((await services.ready('stt', 'es'))[0]).toBe('simulated/tones-1')
  })

  it('local servers are announced at the start, with what to do if nothing answers', async () => {
    const server = createServer((_request, response) => void response.writeHead(404).end())
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const { vendors } = readSettings({ PARLEY_LOCAL_STT: `http://127.0.0.1:${port}/v1?model=small` })
    const line = `speech to text local_stt/small at http://127.0.0.1:${port}/v1`
    expect(await localServerLines(vendors)).toEqual([line])
    await new Promise<void>(resolve => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
    expect(await localServerLines(vendors)).toEqual([
      `${line}: no server answers there; start it, or unset PARLEY_LOCAL_STT`,
    ])
    expect(await localServerLines({})).toEqual([])
  })
})
