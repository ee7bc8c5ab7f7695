import { expect, it } from 'vitest'
import { sendPacket, sendText } from './native-send.ts'

const closed = (): never => {
  throw new Error('libdatachannel error while sending track message: Track is closed')
}

it('a page that leaves between the look at its track or channel and the sending ends nothing else', () => {
  const leaving = { isOpen: () => true, sendMessageBinary: closed, sendMessage: closed, bufferedAmount: () => 0 }
  expect(sendPacket(leaving, Buffer.alloc(20))).toBe(false)
  expect(sendText(leaving, '{}', 1000)).toBe(false)
  expect(sendText({ ...leaving, bufferedAmount: closed }, '{}', 1000)).toBe(false)
})

it('packets and texts are sent while the page is there, and no text to a page that reads none', () => {
  const sent: unknown[] = []
  const take = (what: unknown) => sent.push(what) > 0
  const open = { isOpen: () => true, sendMessageBinary: take, sendMessage: take, bufferedAmount: () => 500 }
  const packet = Buffer.alloc(20)
  expect([sendPacket(open, packet), sendText(open, '{}', 501), sendText(open, '[]', 500)]).toEqual([true, true, false])
  expect(sendPacket({ ...open, isOpen: () => false }, packet)).toBe(false)
  expect(sent).toEqual([packet, '{}'])
})
