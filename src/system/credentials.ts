/** Passwords in URLs are for whoever connects, not for whoever reads what became of it. */

/** `scheme://user:password@host`; the password up to the last `@`, since people forget to escape theirs. */
const PASSWORD = /(\b[a-z][a-z0-9+.-]*:\/{1,2}[^\s:/?#@"']*):[^\s"']*@/gi
/** The same where somebody forgot the scheme. */
const WITHOUT_SCHEME = /^([^\s:/?#@"']+):[^\s/"']*@/
const PARAMETER = /([?&](?:password|sslpassword|passphrase|token|secret|key)=)[^\s&#"']*/gi

/** An address in an address (`redis://…?ledger=postgres://…`), however it is escaped: of that one, who connects is left out, too. */
const LEDGER = /([?&]ledger=)([^\s&#"']*)/gi

/** The same text, its URLs without what only their owners should know. */
export const withoutCredentials = (text: string): string =>
  text
    .replaceAll(LEDGER, (_, name: string, url: string) => `${name}${unescaped(url).replace(/\/\/.*@/s, '//')}`)
    .replaceAll(PASSWORD, '$1@')
    .replace(WITHOUT_SCHEME, '$1@')
    .replaceAll(PARAMETER, '$1***')

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return '***'
  }
}
