import { expect, it } from 'vitest'
import { en } from './en.ts'
import { es } from './es.ts'
import { filled } from './filled.ts'

const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort()

it('the catalogues of both languages have the same keys, each with a text', () => {
  expect(Object.keys(es).sort()).toEqual(Object.keys(en).sort())
  for (const text of [...Object.values(en), ...Object.values(es)]) expect(text.trim()).not.toBe('')
})

it('the texts of a key have the same placeholders in both languages', () => {
  for (const key of Object.keys(en) as (keyof typeof en)[])
    expect([key, placeholders(es[key])]).toEqual([key, placeholders(en[key])])
})

it('a placeholder is replaced by its value, and stays without one', () => {
  expect(filled('{count} of {total}', { count: 2 })).toBe('2 of {total}')
})
