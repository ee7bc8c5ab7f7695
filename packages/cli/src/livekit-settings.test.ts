import { describe, expect, it } from 'vitest'
import { readSettings } from './environment.ts'

const server = {
  LIVEKIT_URL: 'ws://livekit.internal:7880',
  LIVEKIT_API_KEY: 'APIabc',
  LIVEKIT_API_SECRET: 'secret-of-a-test',
}

describe('the LiveKit server of web calls', () => {
  it('there is no LiveKit server by default; browsers use the address of Parley unless they have their own', () => {
    expect(readSettings({}).liveKit).toBe(null)
    expect(readSettings(server).liveKit).toEqual({
      url: 'ws://livekit.internal:7880',
      publicUrl: 'ws://livekit.internal:7880',
      apiKey: 'APIabc',
      apiSecret: 'secret-of-a-test',
    })
    const { liveKit } = readSettings({ ...server, LIVEKIT_PUBLIC_URL: 'wss://livekit.example' })
    expect(liveKit?.publicUrl).toBe('wss://livekit.example')
  })

  it('an address without a key pair is refused, and so is one that is no WebSocket address', () => {
    const { LIVEKIT_URL } = server
    expect(() => readSettings({ LIVEKIT_URL })).toThrow('LIVEKIT_URL: needs LIVEKIT_API_KEY and LIVEKIT_API_SECRET')
    expect(() => readSettings({ ...server, LIVEKIT_API_SECRET: 'with space' })).toThrow('LIVEKIT_API_SECRET: must be')
    expect(() => readSettings({ ...server, LIVEKIT_URL: 'https://livekit.example' })).toThrow('LIVEKIT_URL: must be')
    expect(() => readSettings({ LIVEKIT_PUBLIC_URL: 'wss://livekit.example' })).toThrow('set LIVEKIT_URL')
  })
})
