import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { shortTime } from '../ui/duration.ts'
import { type Catalogue, en, type TextKey } from './en.ts'
import { es } from './es.ts'
import { filled } from './filled.ts'

type Language = 'en' | 'es'

const CATALOGUES: Readonly<Record<Language, Catalogue>> = { en, es }
const STORAGE = 'parley.language'

type Values = Readonly<Record<string, string | number>>

interface Texts {
  readonly language: Language
  setLanguage(language: Language): void
  /** The text of a key, with `{name}` replaced by its value. */
  text(key: TextKey, values?: Values): string
  /** The word for a value of the API, such as a state; the value itself if there is none. */
  word(group: string, value: string): string
  dateTime(iso: string): string
  date(iso: string): string
  time(iso: string): string
  number(value: number, options?: Intl.NumberFormatOptions): string
  /** A short time in ms, such as `1.25 s`; null as a dash. */
  shortTime(ms: number | null): string
}

const TextsContext = createContext<Texts | null>(null)

export function useTexts(): Texts {
  const texts = useContext(TextsContext)
  if (texts === null) throw new Error('useTexts needs a TextsProvider above it')
  return texts
}

export function TextsProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(initialLanguage)
  useEffect(() => {
    document.documentElement.lang = language
    localStorage.setItem(STORAGE, language)
  }, [language])
  return <TextsContext value={textsOf(language, setLanguage)}>{children}</TextsContext>
}

function initialLanguage(): Language {
  const stored = localStorage.getItem(STORAGE)
  if (stored === 'en' || stored === 'es') return stored
  return navigator.language.startsWith('es') ? 'es' : 'en'
}

function textsOf(language: Language, setLanguage: (language: Language) => void): Texts {
  const catalogue = CATALOGUES[language]
  const format = (options: Intl.DateTimeFormatOptions) => (iso: string) =>
    new Intl.DateTimeFormat(language, options).format(new Date(iso))
  return {
    language,
    setLanguage,
    text: (key, values) => filled(catalogue[key], values),
    word: (group, value) => (catalogue as Readonly<Record<string, string>>)[`${group}.${value}`] ?? value,
    dateTime: format({ dateStyle: 'medium', timeStyle: 'short' }),
    date: format({ dateStyle: 'medium' }),
    time: format({ timeStyle: 'medium' }),
    number: (value, options) => new Intl.NumberFormat(language, options).format(value),
    shortTime: ms => shortTime(ms, language),
  }
}
