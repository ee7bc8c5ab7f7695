import { expect, it } from 'vitest'
import { Shortcuts } from './shortcuts.ts'

it('the key g followed by a letter goes to a page', () => {
  const shortcuts = new Shortcuts()
  expect(shortcuts.press('g', 0)).toBeNull()
  expect(shortcuts.press('a', 400)).toEqual({ kind: 'go', route: { page: 'agents' } })
  expect(shortcuts.press('a', 500)).toBeNull()
})

it('a letter long after g goes nowhere', () => {
  const shortcuts = new Shortcuts()
  shortcuts.press('g', 0)
  expect(shortcuts.press('a', 2000)).toBeNull()
})

it('single keys open the help, reach the filters and change the theme', () => {
  const shortcuts = new Shortcuts()
  expect(['?', '/', 'd', 'x'].map(key => shortcuts.press(key, 0)?.kind)).toEqual(['help', 'filter', 'theme', undefined])
})
