import { describe, expect, it } from 'vitest'
import { VisitorPresence } from './visitor-presence.ts'

function presence() {
  const states: string[] = []
  return { states, visitor: new VisitorPresence(state => states.push(state)) }
}

describe('the visitor of a room', () => {
  it('a call is connected when the visitor is in the room and has the track of the agent, in either order', () => {
    const one = presence()
    one.visitor.joined()
    expect(one.states).toEqual([])
    one.visitor.heard()
    expect(one.states).toEqual(['connected'])
    const other = presence()
    other.visitor.heard()
    other.visitor.joined()
    expect(other.states).toEqual(['connected'])
  })

  it('a visitor who leaves ends the call, and nothing is reported afterwards', () => {
    const { states, visitor } = presence()
    visitor.joined()
    visitor.heard()
    visitor.gone(true)
    visitor.closed()
    visitor.joined()
    expect(states).toEqual(['connected', 'left'])
  })

  it('a visitor whose path was lost may come back', () => {
    const { states, visitor } = presence()
    visitor.joined()
    visitor.heard()
    visitor.gone(false)
    visitor.joined()
    expect(states).toEqual(['connected', 'disconnected', 'connected'])
  })

  it('while the agent has no server the call is not connected; when the room is closed it is over', () => {
    const { states, visitor } = presence()
    visitor.joined()
    visitor.heard()
    visitor.reconnecting()
    visitor.reconnected()
    visitor.reconnecting()
    visitor.closed()
    expect(states).toEqual(['connected', 'disconnected', 'connected', 'disconnected', 'closed'])
  })

  it('a visitor that was never in the room does not leave it', () => {
    const { states, visitor } = presence()
    visitor.gone(true)
    expect(states).toEqual([])
  })
})
