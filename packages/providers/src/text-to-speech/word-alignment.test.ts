import { describe, expect, it } from 'vitest'
import { WordAlignment } from './word-alignment.ts'

function place(text: string, times: readonly (readonly [string, number])[], endMs = 1000) {
  const alignment = new WordAlignment(text)
  for (const [word, ms] of times) alignment.add(word, ms)
  alignment.end(endMs)
  return alignment.takeBefore(Number.POSITIVE_INFINITY).map(({ text: word, startMs }) => [word, Math.round(startMs)])
}

describe('the alignment of a text with word times of a service', () => {
  it('the alignment of a text with word times of a service uses the times of the service when it spoke the same words', () => {
    const times = [
      ['Hello,', 0],
      ['world!', 300],
    ] as const
    expect(place('Hello, world!', times)).toEqual([
      ['Hello,', 0],
      ['world!', 300],
    ])
  })

  it('the alignment of a text with word times of a service matches words by their letters, whatever their punctuation and case', () => {
    const times = [
      ['hello', 10],
      ['it’s', 200],
      ['me', 300],
    ] as const
    expect(place("Hello – it's me.", times).map(([word]) => word)).toEqual(['Hello', '–', "it's", 'me.'])
    expect(place("Hello – it's me.", times).at(-1)).toEqual(['me.', 300])
  })

  it('the alignment of a text with word times of a service places words that were spoken differently between their neighbours', () => {
    const times = [
      ['At', 0],
      ['twelve', 100],
      ['thirty', 300],
      ['sharp', 600],
    ] as const
    expect(place('At 12:30 sharp', times)).toEqual([
      ['At', 0],
      ['12:30', 100],
      ['sharp', 600],
    ])
  })

  it('the alignment of a text with word times of a service places words that the service left out between the others, each once', () => {
    const times = [
      ['one', 0],
      ['four', 900],
    ] as const
    expect(place('one two three four five', times, 1500)).toEqual([
      ['one', 0],
      ['two', 300],
      ['three', 600],
      ['four', 900],
      ['five', 1200],
    ])
  })

  it('the alignment of a text with word times of a service never goes back in time, whatever times the service sends', () => {
    const times = [
      ['one', 500],
      ['two', 100],
      ['nonsense', 50],
      ['one', 0],
      ['three', 700],
    ] as const
    const starts = place('one two three', times).map(([, ms]) => ms)
    expect(starts).toEqual([500, 500, 700])
  })

  it('assigns each word to the piece of audio in which it begins', () => {
    const alignment = new WordAlignment('one two three')
    alignment.add('one', 0)
    alignment.add('two', 400)
    expect(alignment.takeBefore(300).map(({ text }) => text)).toEqual(['one'])
    expect(alignment.takeBefore(400)).toEqual([])
    alignment.add('three', 500)
    expect(alignment.takeBefore(600).map(({ text }) => text)).toEqual(['two', 'three'])
  })

  it('the alignment of a text with word times of a service places no words when the service sends no times', () => {
    expect(place('one two', [])).toEqual([])
  })
})
