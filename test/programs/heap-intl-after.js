const host = (x) => tools.echo({ text: String(x) });
await host("x");const a=[];for(;;) a.push(new Intl.DateTimeFormat("en",{dateStyle:"full"}), new Intl.Collator("zh"), new Intl.Segmenter("ja",{granularity:"word"}).segment("x".repeat(1000)))
