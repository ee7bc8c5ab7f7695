import { primaryTag } from './text-to-speech/request.ts'

/** The region with which services that want one get a language without. */
const REGIONS: Readonly<Record<string, string>> = {
  en: 'US',
  es: 'ES',
  ca: 'ES',
  cs: 'CZ',
  da: 'DK',
  el: 'GR',
  he: 'IL',
  hi: 'IN',
  ja: 'JP',
  ko: 'KR',
  nb: 'NO',
  sl: 'SI',
  sv: 'SE',
  uk: 'UA',
  vi: 'VN',
  zh: 'CN',
}

/** "es-ES" for "es"; a tag that has a region is returned as it is (BCP 47). */
export function regionalTag(language: string): string {
  const primary = primaryTag(language)
  if (/^[a-z]{2,3}-[A-Z]{2}$/.test(language)) return language
  return `${primary}-${REGIONS[primary] ?? primary.toUpperCase()}`
}
