/**
 * Whatever stands on a command line can be read by everybody on the machine. Where secrets stand there nevertheless, that is
 * said, and the process goes on under a name without them.
 */
import { withoutCredentials } from '../system/credentials.ts'

/** The command line as anybody may see it. */
export const withoutSecrets = (words: readonly string[]): readonly string[] =>
  words.map((word, i) =>
    words[i - 1] === '--token' ? '***' : withoutCredentials(word.replace(/^--token=.*$/s, '--token=***')),
  )

/** What to say about secrets that were typed where everybody can read them; once for each kind. */
export function exposures(args: readonly string[]): readonly string[] {
  const found: string[] = []
  if (args.some((word) => word === '--token' || word.startsWith('--token=')))
    found.push('Everybody on this machine can read the token after --token: use PAWL_TOKEN or --token-file.')
  if (args.some((word) => withoutCredentials(word) !== word))
    found.push(
      'Everybody on this machine can read the password in a URL: use PAWL_URL, --url-file, PGPASSWORD or ~/.pgpass.',
    )
  return found
}
