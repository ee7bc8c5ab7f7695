import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { decodePcmu } from '@parley/media'
import { RtpHeader, readRtpHeader } from '@parley/media/testing'
import type { AtTestEnd } from './clean-up.ts'

/** Records the audio of peers that cannot record: a UDP port that receives PCMU. */
interface RtpSink {
  readonly port: number
  /** The received audio, packets in order of arrival. */
  received(): Int16Array
}

export async function openRtpSink(atTestEnd: AtTestEnd): Promise<RtpSink> {
  const socket = createSocket('udp4')
  const frames: Int16Array[] = []
  const header = new RtpHeader()
  socket.on('message', packet => {
    if (!readRtpHeader(packet, packet.length, header) || header.payloadType !== 0) return
    const count = header.payloadLength
    const frame = new Int16Array(count)
    decodePcmu(packet, header.payloadOffset, count, frame, 0)
    frames.push(frame)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  atTestEnd(() => void socket.close())
  return {
    port: socket.address().port,
    received: () => Int16Array.from(frames.flatMap(frame => [...frame])),
  }
}
