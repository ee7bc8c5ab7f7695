import { createServer } from 'node:net'
import { runningTime } from '@parley/kernel/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { vendorCatalogue } from '../vendors.ts'
import { reachHost } from './reach-host.ts'

/** A host that takes connections and answers nothing. */
async function host() {
  const heard: Buffer[] = []
  let connections = 0
  const server = createServer(socket => {
    connections++
    socket.on('data', bytes => heard.push(bytes))
    socket.on('error', () => {})
    // Whoever waits for an answer gets the end.
    socket.setTimeout(200, () => socket.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, heard, connections: () => connections }
}

const VENDORS = vendorCatalogue({}, runningTime).stt.filter(({ vendor }) => vendor.settings !== null)

describe.each(VENDORS.map(({ vendor, models }) => ({ name: vendor.name, model: models[0]! })))(
  'a recogniser of $name',
  ({ name, model }) => {
    const opened = (baseUrl: string) => {
      const access = { [name]: { apiKey: 'k', baseUrl, models: [] } }
      const entry = vendorCatalogue(access, runningTime).stt.find(one => one.vendor.name === name)!
      const recogniser = entry.open!(model)
      onTestFinished(() => recogniser.close())
      return recogniser
    }
    const scheme = name === 'google' || name === 'openai' ? 'http' : 'ws'

    it('a recogniser reaches its service when it is prepared, before any stream', async () => {
      const { port, connections } = await host()
      await opened(`${scheme}://127.0.0.1:${port}`).warm!()
      // The end that connects may know of the connection before the other one.
      await vi.waitFor(() => expect(connections()).toBe(1))
    })

    it('a recogniser is not prepared when it was closed', async () => {
      const { port, connections } = await host()
      const recogniser = opened(`${scheme}://127.0.0.1:${port}`)
      await recogniser.close()
      await recogniser.warm!()
      expect(connections()).toBe(0)
    })
  },
)

describe('reaching the host of a service', () => {
  it('a host with TLS is greeted by TLS with its name, and no request is sent', async () => {
    const { port, heard } = await host()
    await reachHost(`wss://localhost:${port}/v1/listen`, (_name, _options, found) =>
      found(null, [{ address: '127.0.0.1', family: 4 }]),
    )
    const [hello] = heard
    expect(hello![0]).toBe(22)
    expect(hello!.includes('localhost')).toBe(true)
  })

  it('a name that does not exist, a refused connection and a host that hangs up are ignored', async () => {
    await reachHost('wss://nobody.invalid', (_name, _options, found) => found(new Error('no such name'), '', 4))
    await reachHost('ws://127.0.0.1:1')
    const { port } = await host()
    await reachHost(`wss://127.0.0.1:${port}`)
  })
})
