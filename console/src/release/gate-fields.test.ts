import { expect, it } from 'vitest'
import { gateOf, percentOf } from './gate-fields.ts'

const fieldsOf = (fields: Readonly<Record<string, string>>) => (name: string) => fields[name] ?? ''

it('a gate is typed in percent and stored as fractions, which are shown as they were typed', () => {
  const typed = { maximumFalsePass: '5.5', maximumFalseBlock: '0.1', minimumEffect: '10' }
  const gate = gateOf(['suite'], fieldsOf(typed))!
  expect(gate).toEqual({ suites: ['suite'], maximumFalsePass: 0.055, maximumFalseBlock: 0.001, minimumEffect: 0.1 })
  expect([gate.maximumFalsePass, gate.maximumFalseBlock, gate.minimumEffect].map(percentOf)).toEqual([5.5, 0.1, 10])
})

it('limits of a gate that are empty are left out, and a gate without a suite is none', () => {
  const typed = { maximumFalsePass: '5', maximumFalseBlock: '5', minimumEffect: '10' }
  const limits = { ...typed, maximumTrials: ' 400 ', maximumUsd: '2.50' }
  expect(gateOf(['a', 'b'], fieldsOf(limits))).toMatchObject({ maximumTrials: 400, maximumUsd: '2.50' })
  expect(gateOf(['a'], fieldsOf(typed))).not.toHaveProperty('maximumUsd')
  expect(gateOf([], fieldsOf(limits))).toBeNull()
})
