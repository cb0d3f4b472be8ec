const s=new Intl.Segmenter("en",{granularity:"word"}).segment("a".repeat(3e6)); for(;;) s.containing(2999999)
