export type Language = 'en' | 'es'

/** Splits language tags into supported ones (English, Spanish, `multi` for both) and unsupported ones. */
export function spokenTags(language: string | readonly string[]): { spoken: string[]; others: string[] } {
  const tags = typeof language === 'string' ? [language] : language
  const isSpoken = (tag: string) => languagesOfTag(tag).length > 0
  return { spoken: tags.filter(isSpoken), others: tags.filter(tag => !isSpoken(tag)) }
}

/** The supported languages of a language setting, each once. */
export function languagesOf(language: string | readonly string[]): Language[] {
  const tags = typeof language === 'string' ? [language] : language
  return [...new Set(tags.flatMap(languagesOfTag))]
}

function languagesOfTag(tag: string): Language[] {
  const primary = tag.split('-')[0]!.toLowerCase()
  if (primary === 'multi') return ['en', 'es']
  return primary === 'en' || primary === 'es' ? [primary] : []
}
