import { useTexts } from '../i18n/i18n.tsx'

export function LanguageSwitch() {
  const { language, setLanguage, text } = useTexts()
  const other = language === 'en' ? 'es' : 'en'
  return (
    <button type="button" className="button quiet" lang={other} onClick={() => setLanguage(other)}>
      {text('shell.otherLanguage')}
    </button>
  )
}
