import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Changes, MAX_IDS, MAX_MESSAGE_BYTES, nextMessage, readMessage } from './changes.ts'

const topic = fc.constantFrom(...(['keys', 'telephony', 'publications', 'tenants', 'runs', 'run_orders'] as const))
const anyId = fc.string({ unit: 'binary', minLength: 1, maxLength: 256 })

describe('changes that wait to be published', () => {
  it('each pending change is published once, however often it was added', () => {
    const changes = new Changes()
    for (const id of ['a', 'b', 'a', 'a']) changes.add(['keys', id])
    expect(changes.takeAll()).toEqual([
      ['keys', 'a'],
      ['keys', 'b'],
    ])
    expect(changes.isEmpty).toBe(true)
  })

  it('pending changes beyond the limit of a topic become one change of the whole topic', () => {
    const changes = new Changes()
    for (let i = 0; i < MAX_IDS + 1; i++) changes.add(['keys', `key-${i}`])
    changes.add(['tenants', 't'])
    expect(changes.takeAll()).toEqual([
      ['keys', null],
      ['tenants', 't'],
    ])
  })

  it('a change with an id that no message can carry becomes a change of its whole topic', () => {
    for (const id of ['', 'x'.repeat(257)]) {
      const changes = new Changes()
      changes.add(['telephony', id])
      expect(changes.takeAll()).toEqual([['telephony', null]])
    }
  })

  it('every pending change is delivered in messages within the size limit of Postgres', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(topic, anyId), { maxLength: 200 }), published => {
        const changes = new Changes()
        for (const change of published) changes.add(change)
        const heard: unknown[] = []
        while (!changes.isEmpty) {
          const { text, sent } = nextMessage('us', changes)
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_MESSAGE_BYTES)
          expect(readMessage(text, 'them')).toEqual(sent)
          expect(readMessage(text, 'us')).toEqual([])
          heard.push(...sent)
        }
        const distinct = new Map(published.map(change => [JSON.stringify(change), change]))
        expect(heard).toHaveLength(distinct.size)
        expect(new Set(heard.map(change => JSON.stringify(change)))).toEqual(new Set(distinct.keys()))
      }),
    ))
})

describe('a message that another program published', () => {
  it('an unreadable message on the channel is ignored without an error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), text => {
        expect(readMessage(text, 'us')).toEqual([])
      }),
    )
    const message = (told: unknown) => JSON.stringify({ from: 'them', told })
    const faulty = [7, null, 'keys', ['keys'], ['keys', 7], ['keys', ''], ['keys', 'x'.repeat(257)], ['keys', 'a', 'b']]
    expect(readMessage(message(faulty), 'us')).toEqual([])
    expect(readMessage(message(Array.from({ length: 4097 }, () => ['keys', 'a'])), 'us')).toEqual([])
    expect(readMessage(`${message([['keys', 'a']])}${' '.repeat(20_000)}`, 'us')).toEqual([])
  })

  it('a message with unknown topics still delivers the known ones', () =>
    expect(
      readMessage(
        JSON.stringify({
          from: 'them',
          told: [
            ['weather', 'a'],
            ['keys', 'b'],
          ],
        }),
        'us',
      ),
    ).toEqual([['keys', 'b']]))
})
