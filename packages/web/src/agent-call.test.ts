import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AgentCall, call } from './agent-call.ts'

it('a call by LiveKit is refused before the microphone is asked for, and the error says what to connect with', async () => {
  const access = { kind: 'livekit', url: 'wss://livekit.example', token: 'jwt' } as const
  await expect(call(access)).rejects.toThrow(/by LiveKit.*livekit-client.*web_kind "direct"/)
})

/** A peer connection that the test moves from state to state. */
class FakeConnection {
  static made: FakeConnection[] = []
  iceGatheringState = 'complete'
  connectionState = 'new'
  localDescription = { sdp: 'v=0' }
  onconnectionstatechange: (() => void) | null = null
  constructor() {
    FakeConnection.made.push(this)
  }
  addTrack(): void {}
  addEventListener(): void {}
  createDataChannel(): object {
    return { readyState: 'connecting' }
  }
  async setLocalDescription(): Promise<void> {}
  async setRemoteDescription(): Promise<void> {}
  close(): void {}
  enter(state: string): void {
    this.connectionState = state
    this.onconnectionstatechange?.()
  }
}

describe('a call whose path was lost', () => {
  let bearers: string[]
  let isAnswered: boolean
  beforeEach(() => {
    vi.useFakeTimers()
    FakeConnection.made = []
    bearers = []
    isAnswered = true
    vi.stubGlobal('RTCPeerConnection', FakeConnection)
    vi.stubGlobal('fetch', async (_url: string, init: { method: string; headers: { authorization: string } }) => {
      if (init.method !== 'POST') return new Response(null)
      if (!isAnswered) throw new TypeError('failed to fetch')
      bearers.push(init.headers.authorization)
      return new Response('v=0', { status: 201, headers: { 'parley-resume': 'wr_secret' } })
    })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  async function lostCall(): Promise<AgentCall> {
    const microphone = { getAudioTracks: () => [], getTracks: () => [] } as unknown as MediaStream
    const audio = {} as HTMLAudioElement
    const made = new AgentCall({ url: 'https://parley.example/web/runs/1', token: 'wt_token' }, microphone, { audio })
    await made.connect()
    FakeConnection.made[0]!.enter('connected')
    FakeConnection.made[0]!.enter('disconnected')
    await vi.advanceTimersByTimeAsync(0)
    return made
  }

  it('a call whose path was lost offers with the secret of its first answer, and waits three seconds for that path before it makes another offer', async () => {
    const lost = await lostCall()
    expect(lost.state).toBe('reconnecting')
    expect(bearers).toEqual(['Bearer wt_token', 'Bearer wr_secret'])
    await vi.advanceTimersByTimeAsync(2900)
    expect(FakeConnection.made).toHaveLength(2)
    FakeConnection.made[1]!.enter('connected')
    await vi.advanceTimersByTimeAsync(20_000)
    expect(lost.state).toBe('connected')
    expect(FakeConnection.made).toHaveLength(2)
  })

  it('a call whose path was lost makes another offer when the path of the last one is not there after three seconds', async () => {
    const lost = await lostCall()
    await vi.advanceTimersByTimeAsync(3100)
    expect(FakeConnection.made).toHaveLength(3)
    FakeConnection.made[2]!.enter('connected')
    await vi.advanceTimersByTimeAsync(0)
    expect(lost.state).toBe('connected')
  })

  it('a call whose path was lost ends ten seconds later if no offer was answered', async () => {
    const lost = await lostCall()
    isAnswered = false
    await vi.advanceTimersByTimeAsync(9000)
    expect(lost.state).toBe('reconnecting')
    await vi.advanceTimersByTimeAsync(4000)
    expect(lost.state).toBe('ended')
  })
})
