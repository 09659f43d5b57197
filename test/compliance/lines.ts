/**
 * Every line of every document, by what it is: a rule, which a test cites or `src/core/dialects/unheld.ts` says why none does;
 * context, which says what the document is about and asks for nothing by itself; or form (titles, empty lines, fences, the head
 * of a list whose items are the rules). Nothing else is left, so that no line was passed over in silence.
 */
export interface Lines {
  readonly first: number
  readonly last: number
  readonly rules: string
  readonly context: string
  readonly form: string
}

export const LINES: Readonly<Record<string, Lines>> = {
  '000A': {
    first: 1,
    last: 83,
    rules: '10–16 18–22 25–29 32–34 37–38 41–42 45–46 49–51 54–55 58–59 62–64 69–81',
    context: '4 7',
    form: '1–3 5–6 8–9 17 23–24 30–31 35–36 39–40 43–44 47–48 52–53 56–57 60–61 65–68 82–83',
  },
  '000B': {
    first: 84,
    last: 126,
    rules: '89–94 96–101 104–107 110–111 114–115 118–119 122 125',
    context: '86',
    form: '84–85 87–88 95 102–103 108–109 112–113 116–117 120–121 123–124 126',
  },
  '001': {
    first: 1,
    last: 119,
    rules:
      '12 23–24 27–32 36–38 40–42 44–46 48–50 52–54 56–58 61 64 66–67 69 71–72 74 76 78–79 81 86–88 90–92 96–98 100–101 104–105 108–110 114–119',
    context: '4 7–11 15–19 22 84',
    form: '1–3 5–6 13–14 20–21 25–26 33–35 39 43 47 51 55 59–60 62–63 65 68 70 73 75 77 80 82–83 85 89 93–95 99 102–103 106–107 111–113',
  },
  '002': {
    first: 1,
    last: 63,
    rules: '4–10 13–18 23–31 33 37–51 55–58 61–63',
    context: '',
    form: '1–3 11–12 19–22 32 34–36 52–54 59–60',
  },
  '003': {
    first: 1,
    last: 100,
    rules: '11–18 20 30–39 41 47 51–59 63–65 74 77–80 88–91',
    context: '3 26 71 86 97–100',
    form: '1–2 4–10 19 21–25 27–29 40 42–46 48–50 60–62 66–70 72–73 75–76 81–85 87 92–96',
  },
  '004': {
    first: 1,
    last: 84,
    rules: '8 11 14–19 23–29 33–34 38 40–41 43–44 46 50–51 57 61 63 67–69 73–74 78–79 83–84',
    context: '3',
    form: '1–2 4–7 9–10 12–13 20–22 30–32 35–37 39 42 45 47–49 52–56 58–60 62 64–66 70–72 75–77 80–82',
  },
}

/** `3 5–7` as 3, 5, 6, 7. */
export const numbersIn = (ranges: string): readonly number[] =>
  ranges
    .split(' ')
    .filter(Boolean)
    .flatMap((range) => {
      const [first, last = first] = range.split('–').map(Number)
      return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i)
    })

/** `000A:10`, of all documents. */
export const RULES: readonly string[] = Object.entries(LINES).flatMap(([document, { rules }]) =>
  numbersIn(rules).map((line) => `${document}:${line}`),
)
